"""LSTM, GRU and plain RNN: depth, directions, biases, layouts."""

from cases import T, case


def weights(gates, inputs, hidden, layers, directions, biases):
    made = []
    for layer in range(layers):
        for _ in range(directions):
            made += [T(gates * hidden, inputs if layer == 0 else directions * hidden), T(gates * hidden, hidden)]
            made += [T(gates * hidden), T(gates * hidden)] if biases else []
    return made


for name, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
    for layers, directions, biases, batch_first in ((1, 1, True, False), (2, 1, False, True), (2, 2, True, True)):
        x = T(2, 5, 3) if batch_first else T(5, 2, 3)
        start = [T(layers * directions, 2, 4) for _ in range(2 if name == "lstm" else 1)]
        params = weights(gates, 3, 4, layers, directions, biases)
        state = start if name == "lstm" else start[0]
        case(f"{name}.input", x, state, params, biases, layers, 0.3, False, directions == 2, batch_first)
    state = [T(2, 4), T(2, 4)] if name == "lstm" else T(2, 4)
    case(f"{name}_cell.default", T(2, 3), state, *weights(gates, 3, 4, 1, 1, False))
    state = [T(2, 4), T(2, 4)] if name == "lstm" else T(2, 4)
    case(f"{name}_cell.default", T(2, 3), state, *weights(gates, 3, 4, 1, 1, True))
