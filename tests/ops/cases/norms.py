"""Normalisations."""

from cases import NAN, T, U, V, case

case("layer_norm.default", T(3, 8), [8])
case("layer_norm.default", T(3, 4, 8), [4, 8], T(4, 8), T(4, 8), 1e-3)
case("layer_norm.default", T(3, 8) + 1e4, [8], T(8))
case("layer_norm.default", V(NAN, 1.0, 2.0, 3.0).reshape(2, 2), [2])
case("native_layer_norm.default", T(3, 4, 8), [8], T(8), T(8), 1e-5)
case("rms_norm.default", T(3, 8), [8], T(8), 1e-6)
case("rms_norm.default", T(3, 4, 8), [4, 8])
case("group_norm.default", T(2, 6, 3, 4), 3, T(6), T(6))
case("group_norm.default", T(2, 6), 2)
case("group_norm.default", T(2, 6, 5), 6, None, None, 1e-2)
case("instance_norm.default", T(2, 3, 4, 5), T(3), T(3), None, None, True, 0.1, 1e-5, False)
case("instance_norm.default", T(2, 3, 9), None, None, None, None, True, 0.1, 1e-5, True)
for shape in ((4, 3, 5, 2), (6, 3)):
    stats = (T(3), T(3), T(3), U(3))
    case("_native_batch_norm_legit_functional.default", T(*shape), *stats, True, 0.1, 1e-5)
    case("_native_batch_norm_legit_no_training.default", T(*shape), *stats, 0.1, 1e-5)
case("_native_batch_norm_legit_functional.default", T(4, 3, 2), None, None, T(3), U(3), True, 0.3, 1e-3)
case("_native_batch_norm_legit_no_training.default", T(4, 3), None, None, T(3), U(3), 0.1, 1e-5)
case("_native_batch_norm_legit.no_stats", T(4, 3, 5), T(3), T(3), True, 0.1, 1e-5)
case("instance_norm.default", T(2, 3, 4), T(3), T(3), T(3), U(3), False, 0.1, 1e-5, False)
