// Ctrl-C (SIGINT) and SIGTERM: end the children, remove the temporary folders, say so, exit with 130 or 143. What the
// store holds stays whole, since every attempt is one transaction.
#pragma once
#include <string>

namespace mtmc {

void stop_on_interrupt();
// What to add to the message while a verb runs: "3 attempts are kept in DIR; the same command goes on from there".
void set_interrupt_note(const std::string& note);

}  // namespace mtmc
