"""What a busy machine's waiting takes off the time that is seen from outside."""

from mtmc.zygote import Waits, kept_waiting_ms

NOW = Waits(0, 0, 0)


def test_both_waits_count_where_nobody_else_of_the_guest_works() -> None:
    assert kept_waiting_ms(NOW, Waits(2_000_000, 3_000_000, 0)) == 5.0


def test_a_guest_that_waits_for_its_own_threads_works() -> None:
    assert kept_waiting_ms(NOW, Waits(2_000_000, 30_000_000, 29_000_000)) == 3.0
    assert kept_waiting_ms(NOW, Waits(2_000_000, 30_000_000, 90_000_000)) == 2.0
