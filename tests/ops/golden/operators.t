program abs_first {
  %0 = input "x0" : f32[3,5]
  %1 = abs(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program abs_last {
  %0 = input "x0" : f32[20]
  %1 = abs(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program acos_first {
  %0 = input "x0" : f32[3,5]
  %1 = acos(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program acos_last {
  %0 = input "x0" : f32[20]
  %1 = acos(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program acosh_first {
  %0 = input "x0" : f32[3,5]
  %1 = acosh(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program acosh_last {
  %0 = input "x0" : i64[4]
  %1 = acosh(%0) : f32[4]
  return %1
}
kernel k0 = { %1 } pointwise

program adaptive_avg_pool1d_first {
  %0 = input "x0" : f32[2,3,9]
  %1 = adaptive_avg_pool1d(%0, output_size=[4]) : f32[2,3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program adaptive_avg_pool2d_first {
  %0 = input "x0" : f32[2,4,9,8]
  %1 = adaptive_avg_pool2d(%0, output_size=[1,1]) : f32[2,4,1,1]
  return %1
}
kernel k0 = { %1 } pointwise

program adaptive_avg_pool2d_last {
  %0 = input "x0" : f32[4,9,8]
  %1 = adaptive_avg_pool2d(%0, output_size=[3,4]) : f32[4,3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program adaptive_avg_pool3d_first {
  %0 = input "x0" : f32[1,2,4,5,6]
  %1 = adaptive_avg_pool3d(%0, output_size=[2,3,4]) : f32[1,2,2,3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program adaptive_max_pool1d_first {
  %0 = input "x0" : f32[2,3,9]
  %1, %2 = adaptive_max_pool1d(%0, output_size=[4]) : f32[2,3,4], i64[2,3,4]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program adaptive_max_pool2d_first {
  %0 = input "x0" : f32[2,4,9,8]
  %1, %2 = adaptive_max_pool2d(%0, output_size=[3,5]) : f32[2,4,3,5], i64[2,4,3,5]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program adaptive_max_pool2d_last {
  %0 = input "x0" : f32[4,9,8]
  %1, %2 = adaptive_max_pool2d(%0, output_size=[3,4]) : f32[4,3,4], i64[4,3,4]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program adaptive_max_pool3d_first {
  %0 = input "x0" : f32[1,2,4,5,6]
  %1, %2 = adaptive_max_pool3d(%0, output_size=[2,3,4]) : f32[1,2,2,3,4], i64[1,2,2,3,4]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program add_first {
  %0 = input "x0" : f32[3,5]
  %1 = input "x1" : f32[3,5]
  %2 = add(%0, %1) : f32[3,5]
  return %2
}
kernel k0 = { %2 } pointwise

program add_last {
  %0 = input "x0" : b1[4]
  %1 = constant "2" : i64[]
  %2 = add(%0, %1) : i64[4]
  return %2
}
kernel k0 = { %2 } pointwise

program addbmm_first {
  %0 = input "x0" : f32[3,5]
  %1 = input "x1" : f32[2,3,4]
  %2 = input "x2" : f32[2,4,5]
  %3 = addbmm(%0, %1, %2) : f32[3,5]
  return %3
}
kernel k0 = { %3 } pointwise

program addbmm_last {
  %0 = input "x0" : f32[5]
  %1 = input "x1" : f32[2,3,4]
  %2 = input "x2" : f32[2,4,5]
  %3 = addbmm(%0, %1, %2, alpha=2.0, beta=0.5) : f32[3,5]
  return %3
}
kernel k0 = { %3 } pointwise

program addcdiv_first {
  %0 = input "x0" : f32[4]
  %1 = input "x1" : f32[4]
  %2 = input "x2" : f32[4]
  %3 = addcdiv(%0, %1, %2, value=2) : f32[4]
  return %3
}
kernel k0 = { %3 } pointwise

program addcmul_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,1]
  %2 = input "x2" : f32[5]
  %3 = addcmul(%0, %1, %2, value=0.5) : f32[4,5]
  return %3
}
kernel k0 = { %3 } pointwise

program addmm_first {
  %0 = input "x0" : f32[4]
  %1 = input "x1" : f32[2,3]
  %2 = input "x2" : f32[3,4]
  %3 = addmm(%0, %1, %2) : f32[2,4]
  return %3
}
kernel k0 = { %3 } pointwise

program addmm_last {
  %0 = input "x0" : f32[2]
  %1 = input "x1" : f32[2,3]
  %2 = input "x2" : f32[3,2]
  %3 = addmm(%0, %1, %2, beta=0) : f32[2,2]
  return %3
}
kernel k0 = { %3 } pointwise

program addmv_first {
  %0 = input "x0" : f32[2]
  %1 = input "x1" : f32[2,3]
  %2 = input "x2" : f32[3]
  %3 = addmv(%0, %1, %2) : f32[2]
  return %3
}
kernel k0 = { %3 } pointwise

program alias_first {
  %0 = input "x0" : f32[5]
  %1 = alias(%0) : f32[5]
  return %1
}
kernel k0 = { %1 } pointwise

program alias_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = alias(%0) : f32[2,3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program all_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = all(%0) : b1[]
  return %1
}
kernel k0 = { %1 } pointwise

program all_last {
  %0 = input "x0" : b1[3,4]
  %1 = all(%0) : b1[]
  return %1
}
kernel k0 = { %1 } pointwise

program amax_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = amax(%0) : f32[]
  return %1
}
kernel k0 = { %1 } pointwise

program amax_last {
  %0 = input "x0" : b1[3,4]
  %1 = amax(%0) : b1[]
  return %1
}
kernel k0 = { %1 } pointwise

program amin_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = amin(%0) : f32[]
  return %1
}
kernel k0 = { %1 } pointwise

program amin_last {
  %0 = input "x0" : f32[3,4,5]
  %1 = amin(%0, dim=[-3,1]) : f32[5]
  return %1
}
kernel k0 = { %1 } pointwise

program aminmax_first {
  %0 = input "x0" : f32[4,5]
  %1, %2 = aminmax(%0, dim=1) : f32[4], f32[4]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program aminmax_last {
  %0 = input "x0" : i64[4,5]
  %1, %2 = aminmax(%0) : i64[], i64[]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program any_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = any(%0) : b1[]
  return %1
}
kernel k0 = { %1 } pointwise

program any_last {
  %0 = input "x0" : b1[3,4]
  %1 = any(%0) : b1[]
  return %1
}
kernel k0 = { %1 } pointwise

program arange_first {
  %0 = arange(end=5) : i64[5]
  return %0
}
kernel k0 = { %0 } pointwise

program arange_last {
  %0 = arange(dtype=f32, end=4) : f32[4]
  return %0
}
kernel k0 = { %0 } pointwise

program argmax_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = argmax(%0) : i64[]
  return %1
}
kernel k0 = { %1 } pointwise

program argmax_last {
  %0 = input "x0" : i64[4,6]
  %1 = argmax(%0, dim=1) : i64[4]
  return %1
}
kernel k0 = { %1 } pointwise

program argmin_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = argmin(%0) : i64[]
  return %1
}
kernel k0 = { %1 } pointwise

program argmin_last {
  %0 = input "x0" : i64[4,6]
  %1 = argmin(%0, dim=1) : i64[4]
  return %1
}
kernel k0 = { %1 } pointwise

program asin_first {
  %0 = input "x0" : f32[3,5]
  %1 = asin(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program asin_last {
  %0 = input "x0" : f32[20]
  %1 = asin(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program asinh_first {
  %0 = input "x0" : f32[3,5]
  %1 = asinh(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program asinh_last {
  %0 = input "x0" : f32[9]
  %1 = asinh(%0) : f32[9]
  return %1
}
kernel k0 = { %1 } pointwise

program atan_first {
  %0 = input "x0" : f32[3,5]
  %1 = atan(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program atan_last {
  %0 = input "x0" : f32[20]
  %1 = atan(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program atan2_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[5]
  %2 = atan2(%0, %1) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program atan2_last {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = atan2(%0, %1) : f32[20]
  return %2
}
kernel k0 = { %2 } pointwise

program atanh_first {
  %0 = input "x0" : f32[3,5]
  %1 = atanh(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program atanh_last {
  %0 = input "x0" : i64[4]
  %1 = atanh(%0) : f32[4]
  return %1
}
kernel k0 = { %1 } pointwise

program avg_pool1d_first {
  %0 = input "x0" : f32[2,3,9]
  %1 = avg_pool1d(%0, kernel_size=[3], padding=[1], stride=[2]) : f32[2,3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program avg_pool2d_first {
  %0 = input "x0" : f32[2,4,9,8]
  %1 = avg_pool2d(%0, kernel_size=[2,2]) : f32[2,4,4,4]
  return %1
}
kernel k0 = { %1 } pointwise

program avg_pool2d_last {
  %0 = input "x0" : f32[4,9,8]
  %1 = avg_pool2d(%0, divisor_override=3, kernel_size=[2,2]) : f32[4,4,4]
  return %1
}
kernel k0 = { %1 } pointwise

program avg_pool3d_first {
  %0 = input "x0" : f32[1,2,4,5,6]
  %1 = avg_pool3d(%0, kernel_size=[2,2,3]) : f32[1,2,2,2,2]
  return %1
}
kernel k0 = { %1 } pointwise

program baddbmm_first {
  %0 = input "x0" : f32[2,1]
  %1 = input "x1" : f32[5,2,3]
  %2 = input "x2" : f32[5,3,4]
  %3 = baddbmm(%0, %1, %2, alpha=3) : f32[5,2,4]
  return %3
}
kernel k0 = { %3 } pointwise

program batch_norm_first {
  %0 = input "x0" : f32[4,3,5,2]
  %1 = input "x1" : f32[3]
  %2 = input "x2" : f32[3]
  %3 = input "x3" : f32[3]
  %4 = input "x4" : f32[3]
  %5 = batch_norm(%0, %1, %2, %3, %4, eps=1e-05) : f32[4,3,5,2]
  return %5
}
kernel k0 = { %5 } pointwise

program batch_norm_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = input "x1" : f32[3]
  %2 = input "x2" : f32[3]
  %3 = input "x3" : f32[3]
  %4 = input "x4" : f32[3]
  %5 = batch_norm(%0, %1, %2, %3, %4, eps=1e-05) : f32[2,3,4]
  return %5
}
kernel k0 = { %5 } pointwise

program batch_norm_train_first {
  %0 = input "x0" : f32[4,3,5,2]
  %1 = input "x1" : f32[3]
  %2 = input "x2" : f32[3]
  %3 = input "x3" : f32[3]
  %4 = input "x4" : f32[3]
  %5, %6, %7, %8, %9 = batch_norm_train(%0, %1, %2, %3, %4, eps=1e-05, momentum=0.1) : f32[4,3,5,2], f32[3], f32[3], f32[3], f32[3]
  return %5, %6, %7, %8, %9
}
kernel k0 = { %5 %6 %7 %8 %9 } pointwise

program batch_norm_train_last {
  %0 = input "x0" : f32[4,3,5]
  %1 = input "x1" : f32[3]
  %2 = input "x2" : f32[3]
  %3, %4, %5 = batch_norm_train(%0, %1, %2, eps=1e-05, momentum=0.1) : f32[4,3,5], f32[3], f32[3]
  return %3, %4, %5
}
kernel k0 = { %3 %4 %5 } pointwise

program bilinear_first {
  %0 = input "x0" : f32[4,3]
  %1 = input "x1" : f32[4,5]
  %2 = input "x2" : f32[2,3,5]
  %3 = input "x3" : f32[2]
  %4 = bilinear(%0, %1, %2, %3) : f32[4,2]
  return %4
}
kernel k0 = { %4 } pointwise

program bilinear_last {
  %0 = input "x0" : f32[2,4,3]
  %1 = input "x1" : f32[2,4,5]
  %2 = input "x2" : f32[2,3,5]
  %3 = bilinear(%0, %1, %2) : f32[2,4,2]
  return %3
}
kernel k0 = { %3 } pointwise

program binary_cross_entropy_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = binary_cross_entropy(%0, %1, reduction=0) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program binary_cross_entropy_last {
  %0 = input "x0" : f32[3]
  %1 = input "x1" : f32[3]
  %2 = input "x2" : f32[3]
  %3 = binary_cross_entropy(%0, %1, %2) : f32[]
  return %3
}
kernel k0 = { %3 } pointwise

program binary_cross_entropy_with_logits_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = binary_cross_entropy_with_logits(%0, %1, reduction=0) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program binary_cross_entropy_with_logits_last {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = input "x2" : f32[5]
  %3 = input "x3" : f32[5]
  %4 = binary_cross_entropy_with_logits(%0, %1, %2, %3) : f32[]
  return %4
}
kernel k0 = { %4 } pointwise

program bitwise_and_first {
  %0 = input "x0" : i64[8]
  %1 = input "x1" : i64[8]
  %2 = bitwise_and(%0, %1) : i64[8]
  return %2
}
kernel k0 = { %2 } pointwise

program bitwise_and_last {
  %0 = input "x0" : i64[8]
  %1 = constant "3" : i64[]
  %2 = bitwise_and(%0, %1) : i64[8]
  return %2
}
kernel k0 = { %2 } pointwise

program bitwise_left_shift_first {
  %0 = input "x0" : i64[8]
  %1 = input "x1" : i64[8]
  %2 = bitwise_left_shift(%0, %1) : i64[8]
  return %2
}
kernel k0 = { %2 } pointwise

program bitwise_not_first {
  %0 = input "x0" : i64[8]
  %1 = bitwise_not(%0) : i64[8]
  return %1
}
kernel k0 = { %1 } pointwise

program bitwise_not_last {
  %0 = input "x0" : b1[8]
  %1 = bitwise_not(%0) : b1[8]
  return %1
}
kernel k0 = { %1 } pointwise

program bitwise_or_first {
  %0 = input "x0" : i64[8]
  %1 = input "x1" : i64[8]
  %2 = bitwise_or(%0, %1) : i64[8]
  return %2
}
kernel k0 = { %2 } pointwise

program bitwise_or_last {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = bitwise_or(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program bitwise_right_shift_first {
  %0 = input "x0" : i64[8]
  %1 = constant "2" : i64[]
  %2 = bitwise_right_shift(%0, %1) : i64[8]
  return %2
}
kernel k0 = { %2 } pointwise

program bitwise_xor_first {
  %0 = input "x0" : i64[8]
  %1 = input "x1" : i64[8]
  %2 = bitwise_xor(%0, %1) : i64[8]
  return %2
}
kernel k0 = { %2 } pointwise

program bitwise_xor_last {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = bitwise_xor(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program cat_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = input "x1" : f32[2,1,4]
  %2 = input "x2" : f32[2,5,4]
  %3 = cat(%0, %1, %2, dim=1) : f32[2,9,4]
  return %3
}
kernel k0 = { %3 } pointwise

program cat_last {
  %0 = input "x0" : f32[3,2]
  %1 = input "x1" : f32[3,1]
  %2 = cat(%0, %1, dim=-1) : f32[3,3]
  return %2
}
kernel k0 = { %2 } pointwise

program cdist_first {
  %0 = input "x0" : f32[2,4,3]
  %1 = input "x1" : f32[5,3]
  %2 = cdist(%0, %1, p=1.0) : f32[2,4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program cdist_last {
  %0 = input "x0" : f32[2,4,3]
  %1 = input "x1" : f32[5,3]
  %2 = cdist(%0, %1, p=inf) : f32[2,4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program ceil_first {
  %0 = input "x0" : f32[3,5]
  %1 = ceil(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program ceil_last {
  %0 = input "x0" : f32[20]
  %1 = ceil(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program celu_first {
  %0 = input "x0" : f32[3,5]
  %1 = celu(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program celu_last {
  %0 = input "x0" : f32[4]
  %1 = celu(%0, alpha=0.5) : f32[4]
  return %1
}
kernel k0 = { %1 } pointwise

program channel_shuffle_first {
  %0 = input "x0" : f32[2,6,3]
  %1 = channel_shuffle(%0, groups=3) : f32[2,6,3]
  return %1
}
kernel k0 = { %1 } pointwise

program clamp_first {
  %0 = input "x0" : f32[20]
  %1 = clamp(%0, max=2, min=-1) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program clamp_last {
  %0 = input "x0" : f32[20]
  %1 = clamp(%0, max=0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program clamp_tensor_first {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = input "x2" : f32[20]
  %3 = clamp_tensor(%0, %1, %2) : f32[20]
  return %3
}
kernel k0 = { %3 } pointwise

program clamp_tensor_last {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[5]
  %2 = clamp_tensor(%0, none, %1) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program clone_first {
  %0 = input "x0" : f32[3,5]
  %1 = clone(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program clone_last {
  %0 = input "x0" : f32[20]
  %1 = clone(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program col2im_first {
  %0 = input "x0" : f32[2,12,35]
  %1 = col2im(%0, dilation=[1,1], kernel_size=[2,2], output_size=[6,8], padding=[0,0], stride=[1,1]) : f32[2,3,6,8]
  return %1
}
kernel k0 = { %1 } pointwise

program col2im_last {
  %0 = input "x0" : f32[12,9]
  %1 = col2im(%0, dilation=[2,1], kernel_size=[2,3], output_size=[6,8], padding=[1,0], stride=[2,2]) : f32[2,6,8]
  return %1
}
kernel k0 = { %1 } pointwise

program conv1d_first {
  %0 = input "x0" : f32[2,4,9]
  %1 = input "x1" : f32[6,2,3]
  %2 = input "x2" : f32[6]
  %3 = conv1d(%0, %1, %2, dilation=[2], groups=2, padding=[3], stride=[2]) : f32[2,6,6]
  return %3
}
kernel k0 = { %3 } pointwise

program conv2d_first {
  %0 = input "x0" : f32[2,4,9,8]
  %1 = input "x1" : f32[6,4,3,3]
  %2 = input "x2" : f32[6]
  %3 = conv2d(%0, %1, %2, padding=[1,1]) : f32[2,6,9,8]
  return %3
}
kernel k0 = { %3 } pointwise

program conv2d_last {
  %0 = input "x0" : f32[2,4,9,8]
  %1 = input "x1" : f32[6,4,3,3]
  %2 = conv2d(%0, %1, stride=[2,2]) : f32[2,6,4,3]
  return %2
}
kernel k0 = { %2 } pointwise

program conv3d_first {
  %0 = input "x0" : f32[1,2,4,5,6]
  %1 = input "x1" : f32[3,2,2,3,3]
  %2 = input "x2" : f32[3]
  %3 = conv3d(%0, %1, %2, padding=[1,1,1], stride=[1,2,1]) : f32[1,3,5,3,6]
  return %3
}
kernel k0 = { %3 } pointwise

program conv_transpose1d_first {
  %0 = input "x0" : f32[2,4,7]
  %1 = input "x1" : f32[4,6,4]
  %2 = input "x2" : f32[6]
  %3 = conv_transpose1d(%0, %1, %2, stride=[3]) : f32[2,6,22]
  return %3
}
kernel k0 = { %3 } pointwise

program conv_transpose1d_last {
  %0 = input "x0" : f32[2,4,7]
  %1 = input "x1" : f32[4,3,3]
  %2 = input "x2" : f32[6]
  %3 = conv_transpose1d(%0, %1, %2, dilation=[2], groups=2, output_padding=[1], padding=[1], stride=[5]) : f32[2,6,34]
  return %3
}
kernel k0 = { %3 } pointwise

program conv_transpose2d_first {
  %0 = input "x0" : f32[2,4,9,8]
  %1 = input "x1" : f32[4,6,3,3]
  %2 = input "x2" : f32[6]
  %3 = conv_transpose2d(%0, %1, %2, output_padding=[1,1], padding=[1,1], stride=[2,2]) : f32[2,6,18,16]
  return %3
}
kernel k0 = { %3 } pointwise

program conv_transpose2d_last {
  %0 = input "x0" : f32[2,4,9,8]
  %1 = input "x1" : f32[4,3,3,4]
  %2 = conv_transpose2d(%0, %1, dilation=[2,6], output_padding=[1,0], padding=[2,1], stride=[3,4]) : f32[2,3,26,45]
  return %2
}
kernel k0 = { %2 } pointwise

program conv_transpose3d_first {
  %0 = input "x0" : f32[1,2,3,3,2]
  %1 = input "x1" : f32[2,3,2,2,2]
  %2 = input "x2" : f32[3]
  %3 = conv_transpose3d(%0, %1, %2, stride=[2,2,2]) : f32[1,3,6,6,4]
  return %3
}
kernel k0 = { %3 } pointwise

program copy_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = input "x1" : f32[3,1]
  %2 = copy(%0, %1) : f32[2,3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program copy_last {
  %0 = input "x0" : i64[3]
  %1 = input "x1" : f32[3]
  %2 = copy(%0, %1) : i64[3]
  return %2
}
kernel k0 = { %2 } pointwise

program copysign_first {
  %0 = input "x0" : f32[19]
  %1 = input "x1" : f32[19]
  %2 = copysign(%0, %1) : f32[19]
  return %2
}
kernel k0 = { %2 } pointwise

program copysign_last {
  %0 = input "x0" : f32[5]
  %1 = constant "-2.0" : f32[]
  %2 = copysign(%0, %1) : f32[5]
  return %2
}
kernel k0 = { %2 } pointwise

program cos_first {
  %0 = input "x0" : f32[3,5]
  %1 = cos(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program cos_last {
  %0 = input "x0" : f32[20]
  %1 = cos(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program cosh_first {
  %0 = input "x0" : f32[3,5]
  %1 = cosh(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program cosh_last {
  %0 = input "x0" : f32[20]
  %1 = cosh(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program cosine_embedding_loss_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = input "x2" : f32[4]
  %3 = cosine_embedding_loss(%0, %1, %2, margin=0.2, reduction=0) : f32[4]
  return %3
}
kernel k0 = { %3 } pointwise

program cosine_embedding_loss_last {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = input "x2" : f32[4]
  %3 = cosine_embedding_loss(%0, %1, %2, margin=0.2, reduction=2) : f32[]
  return %3
}
kernel k0 = { %3 } pointwise

program cosine_similarity_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = cosine_similarity(%0, %1) : f32[4]
  return %2
}
kernel k0 = { %2 } pointwise

program cosine_similarity_last {
  %0 = input "x0" : f32[4,5,2]
  %1 = input "x1" : f32[5,1]
  %2 = cosine_similarity(%0, %1, dim=-2, eps=0.5) : f32[4,2]
  return %2
}
kernel k0 = { %2 } pointwise

program count_nonzero_first {
  %0 = input "x0" : i64[4,5]
  %1 = count_nonzero(%0) : i64[]
  return %1
}
kernel k0 = { %1 } pointwise

program count_nonzero_last {
  %0 = input "x0" : f32[4,5]
  %1 = count_nonzero(%0, dim=[1]) : i64[4]
  return %1
}
kernel k0 = { %1 } pointwise

program cross_first {
  %0 = input "x0" : f32[4,3]
  %1 = input "x1" : f32[4,3]
  %2 = cross(%0, %1) : f32[4,3]
  return %2
}
kernel k0 = { %2 } pointwise

program cross_last {
  %0 = input "x0" : f32[3,4]
  %1 = input "x1" : f32[3,1]
  %2 = cross(%0, %1, dim=0) : f32[3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program cross_entropy_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : i64[4]
  %2 = cross_entropy(%0, %1, reduction=0) : f32[4]
  return %2
}
kernel k0 = { %2 } pointwise

program cross_entropy_last {
  %0 = input "x0" : f32[3,5]
  %1 = input "x1" : i64[3]
  %2 = cross_entropy(%0, %1) : f32[]
  return %2
}
kernel k0 = { %2 } pointwise

program cumprod_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = cumprod(%0, dim=0) : f32[3,4,5]
  return %1
}
kernel k0 = { %1 } pointwise

program cumprod_last {
  %0 = input "x0" : f32[3]
  %1 = cumprod(%0, dim=0) : f32[3]
  return %1
}
kernel k0 = { %1 } pointwise

program cumsum_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = cumsum(%0, dim=0) : f32[3,4,5]
  return %1
}
kernel k0 = { %1 } pointwise

program cumsum_last {
  %0 = input "x0" : i64[6]
  %1 = cumsum(%0, dim=0, dtype=f64) : f64[6]
  return %1
}
kernel k0 = { %1 } pointwise

program deg2rad_first {
  %0 = input "x0" : f32[3,5]
  %1 = deg2rad(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program deg2rad_last {
  %0 = input "x0" : i64[4]
  %1 = deg2rad(%0) : f32[4]
  return %1
}
kernel k0 = { %1 } pointwise

program diag_first {
  %0 = input "x0" : f32[4,5]
  %1 = diag(%0) : f32[4]
  return %1
}
kernel k0 = { %1 } pointwise

program diag_last {
  %0 = input "x0" : f32[4]
  %1 = diag(%0, diagonal=-2) : f32[6,6]
  return %1
}
kernel k0 = { %1 } pointwise

program diag_embed_first {
  %0 = input "x0" : f32[2,3]
  %1 = diag_embed(%0) : f32[2,3,3]
  return %1
}
kernel k0 = { %1 } pointwise

program diag_embed_last {
  %0 = input "x0" : f32[4]
  %1 = diag_embed(%0, offset=-2) : f32[6,6]
  return %1
}
kernel k0 = { %1 } pointwise

program diagonal_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = diagonal(%0) : f32[4,2]
  return %1
}
kernel k0 = { %1 } pointwise

program diagonal_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = diagonal(%0, dim1=-1, dim2=0, offset=-1) : f32[3,2]
  return %1
}
kernel k0 = { %1 } pointwise

program div_first {
  %0 = input "x0" : f32[3,5]
  %1 = input "x1" : f32[3,5]
  %2 = div(%0, %1) : f32[3,5]
  return %2
}
kernel k0 = { %2 } pointwise

program div_last {
  %0 = input "x0" : f32[3,5]
  %1 = constant "2.5" : f32[]
  %2 = div(%0, %1) : f32[3,5]
  return %2
}
kernel k0 = { %2 } pointwise

program div_mode_first {
  %0 = input "x0" : i64[40]
  %1 = input "x1" : i64[40]
  %2 = div_mode(%0, %1, rounding_mode="trunc") : i64[40]
  return %2
}
kernel k0 = { %2 } pointwise

program div_mode_last {
  %0 = input "x0" : f32[20]
  %1 = constant "0.3" : f32[]
  %2 = div_mode(%0, %1, rounding_mode="floor") : f32[20]
  return %2
}
kernel k0 = { %2 } pointwise

program elu_first {
  %0 = input "x0" : f32[3,5]
  %1 = elu(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program elu_last {
  %0 = input "x0" : f32[4]
  %1 = elu(%0, alpha=0.7, input_scale=0.9, scale=1.3) : f32[4]
  return %1
}
kernel k0 = { %1 } pointwise

program embedding_first {
  %0 = input "x0" : f32[10,4]
  %1 = input "x1" : i64[2,3]
  %2 = embedding(%0, %1) : f32[2,3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program embedding_last {
  %0 = input "x0" : f32[10,4]
  %1 = input "x1" : i32[3]
  %2 = embedding(%0, %1) : f32[3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program embedding_bag_first {
  %0 = input "x0" : f32[10,4]
  %1 = input "x1" : i64[6]
  %2 = constant "0.0 2.0 4.0" : i64[3]
  %3 = embedding_bag(%0, %1, bag=2, mode=0) : f32[3,4]
  return %3
}
kernel k0 = { %3 } pointwise

program embedding_bag_last {
  %0 = input "x0" : f32[10,33]
  %1 = input "x1" : i64[96]
  %2 = constant "0.0 8.0 16.0 24.0 32.0 40.0 48.0 56.0 64.0 72.0 80.0 88.0" : i64[12]
  %3 = input "x3" : f32[96]
  %4 = embedding_bag(%0, %1, %3, bag=8, mode=0, padding_idx=2) : f32[12,33]
  return %4
}
kernel k0 = { %4 } pointwise

program eq_first {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = eq(%0, %1) : b1[20]
  return %2
}
kernel k0 = { %2 } pointwise

program eq_last {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = eq(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program erf_first {
  %0 = input "x0" : f32[3,5]
  %1 = erf(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program erf_last {
  %0 = input "x0" : f32[20]
  %1 = erf(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program erfc_first {
  %0 = input "x0" : f32[3,5]
  %1 = erfc(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program erfc_last {
  %0 = input "x0" : f32[20]
  %1 = erfc(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program exp_first {
  %0 = input "x0" : f32[3,5]
  %1 = exp(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program exp_last {
  %0 = input "x0" : f32[20]
  %1 = exp(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program exp2_first {
  %0 = input "x0" : f32[3,5]
  %1 = exp2(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program exp2_last {
  %0 = input "x0" : f32[20]
  %1 = exp2(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program expand_first {
  %0 = input "x0" : f32[3,1]
  %1 = expand(%0, size=[2,3,4]) : f32[2,3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program expand_last {
  %0 = input "x0" : f32[3,1]
  %1 = expand(%0, size=[-1,5]) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program expm1_first {
  %0 = input "x0" : f32[3,5]
  %1 = expm1(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program expm1_last {
  %0 = input "x0" : f32[20]
  %1 = expm1(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program eye_first {
  %0 = eye(n=3) : f32[3,3]
  return %0
}
kernel k0 = { %0 } pointwise

program eye_last {
  %0 = eye(m=5, n=3) : f32[3,5]
  return %0
}
kernel k0 = { %0 } pointwise

program flatten_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = flatten(%0) : f32[24]
  return %1
}
kernel k0 = { %1 } pointwise

program flatten_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = flatten(%0, start_dim=1) : f32[2,12]
  return %1
}
kernel k0 = { %1 } pointwise

program flip_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = flip(%0, dims=[0,-1]) : f32[2,3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program flip_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = flip(%0, dims=[]) : f32[2,3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program floor_first {
  %0 = input "x0" : f32[3,5]
  %1 = floor(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program floor_last {
  %0 = input "x0" : f32[20]
  %1 = floor(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program floor_divide_first {
  %0 = input "x0" : i64[40]
  %1 = input "x1" : i64[40]
  %2 = floor_divide(%0, %1) : i64[40]
  return %2
}
kernel k0 = { %2 } pointwise

program floor_divide_last {
  %0 = input "x0" : f32[5]
  %1 = input "x1" : f32[5]
  %2 = floor_divide(%0, %1) : f32[5]
  return %2
}
kernel k0 = { %2 } pointwise

program fmax_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[5]
  %2 = fmax(%0, %1) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program fmax_last {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = fmax(%0, %1) : f32[20]
  return %2
}
kernel k0 = { %2 } pointwise

program fmin_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[5]
  %2 = fmin(%0, %1) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program fmin_last {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = fmin(%0, %1) : f32[20]
  return %2
}
kernel k0 = { %2 } pointwise

program fmod_first {
  %0 = input "x0" : i64[40]
  %1 = input "x1" : i64[40]
  %2 = fmod(%0, %1) : i64[40]
  return %2
}
kernel k0 = { %2 } pointwise

program fmod_last {
  %0 = input "x0" : f32[9]
  %1 = constant "2.0" : f32[]
  %2 = fmod(%0, %1) : f32[9]
  return %2
}
kernel k0 = { %2 } pointwise

program frac_first {
  %0 = input "x0" : f32[3,5]
  %1 = frac(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program frac_last {
  %0 = input "x0" : f32[20]
  %1 = frac(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program full_first {
  %0 = full(dtype=f64, shape=[2,3], value=2.5) : f64[2,3]
  return %0
}
kernel k0 = { %0 } pointwise

program full_last {
  %0 = full(dtype=f32, shape=[], value=2.0) : f32[]
  return %0
}
kernel k0 = { %0 } pointwise

program full_like_first {
  %0 = input "x0" : f32[2,3]
  %1 = full_like(%0, value=0.0) : f32[2,3]
  return %1
}
kernel k0 = { %1 } pointwise

program full_like_last {
  %0 = input "x0" : i64[2]
  %1 = full_like(%0, shape=[3], value=4) : i64[3]
  return %1
}
kernel k0 = { %1 } pointwise

program gather_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = input "x1" : i64[2,5,3]
  %2 = gather(%0, %1, dim=1) : f32[2,5,3]
  return %2
}
kernel k0 = { %2 } pointwise

program ge_first {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = ge(%0, %1) : b1[20]
  return %2
}
kernel k0 = { %2 } pointwise

program ge_last {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = ge(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program gelu_first {
  %0 = input "x0" : f32[3,5]
  %1 = gelu(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program gelu_last {
  %0 = input "x0" : f32[20]
  %1 = gelu(%0, approximate="tanh") : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program glu_first {
  %0 = input "x0" : f32[3,8]
  %1 = glu(%0) : f32[3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program glu_last {
  %0 = input "x0" : f32[4,3]
  %1 = glu(%0, dim=0) : f32[2,3]
  return %1
}
kernel k0 = { %1 } pointwise

program grid_sample_first {
  %0 = input "x0" : f32[1,2,5,4]
  %1 = input "x1" : f32[1,3,4,2]
  %2 = grid_sample(%0, %1, align_corners=false, interpolation_mode=0, padding_mode=0) : f32[1,2,3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program grid_sample_last {
  %0 = input "x0" : f32[1,2,5,4]
  %1 = input "x1" : f32[1,3,4,2]
  %2 = grid_sample(%0, %1, align_corners=true, interpolation_mode=1, padding_mode=1) : f32[1,2,3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program group_norm_first {
  %0 = input "x0" : f32[2,6,3,4]
  %1 = input "x1" : f32[6]
  %2 = input "x2" : f32[6]
  %3 = group_norm(%0, %1, %2, num_groups=3) : f32[2,6,3,4]
  return %3
}
kernel k0 = { %3 } pointwise

program group_norm_last {
  %0 = input "x0" : f32[2,6,5]
  %1 = group_norm(%0, eps=0.01, num_groups=6) : f32[2,6,5]
  return %1
}
kernel k0 = { %1 } pointwise

program gru_cell_first {
  %0 = input "x0" : f32[2,3]
  %1 = input "x1" : f32[2,4]
  %2 = input "x2" : f32[12,3]
  %3 = input "x3" : f32[12,4]
  %4 = gru_cell(%0, %1, %2, %3) : f32[2,4]
  return %4
}
kernel k0 = { %4 } pointwise

program gru_cell_last {
  %0 = input "x0" : f32[2,3]
  %1 = input "x1" : f32[2,4]
  %2 = input "x2" : f32[12,3]
  %3 = input "x3" : f32[12,4]
  %4 = input "x4" : f32[12]
  %5 = input "x5" : f32[12]
  %6 = gru_cell(%0, %1, %2, %3, %4, %5) : f32[2,4]
  return %6
}
kernel k0 = { %6 } pointwise

program gt_first {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = gt(%0, %1) : b1[20]
  return %2
}
kernel k0 = { %2 } pointwise

program gt_last {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = gt(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program hardshrink_first {
  %0 = input "x0" : f32[3,5]
  %1 = hardshrink(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program hardshrink_last {
  %0 = input "x0" : f32[20]
  %1 = hardshrink(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program hardsigmoid_first {
  %0 = input "x0" : f32[3,5]
  %1 = hardsigmoid(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program hardsigmoid_last {
  %0 = input "x0" : f32[20]
  %1 = hardsigmoid(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program hardswish_first {
  %0 = input "x0" : f32[3,5]
  %1 = hardswish(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program hardswish_last {
  %0 = input "x0" : f32[20]
  %1 = hardswish(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program hardtanh_first {
  %0 = input "x0" : f32[3,5]
  %1 = hardtanh(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program hardtanh_last {
  %0 = input "x0" : f32[20]
  %1 = hardtanh(%0, max_val=2.0, min_val=-0.3) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program heaviside_first {
  %0 = input "x0" : f32[3]
  %1 = input "x1" : f32[3]
  %2 = heaviside(%0, %1) : f32[3]
  return %2
}
kernel k0 = { %2 } pointwise

program hinge_embedding_loss_first {
  %0 = input "x0" : f32[6]
  %1 = input "x1" : f32[6]
  %2 = hinge_embedding_loss(%0, %1, margin=0.7, reduction=0) : f32[6]
  return %2
}
kernel k0 = { %2 } pointwise

program hinge_embedding_loss_last {
  %0 = input "x0" : f32[6]
  %1 = input "x1" : f32[6]
  %2 = hinge_embedding_loss(%0, %1, margin=0.7, reduction=2) : f32[]
  return %2
}
kernel k0 = { %2 } pointwise

program huber_loss_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = huber_loss(%0, %1, reduction=0) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program huber_loss_last {
  %0 = input "x0" : f32[9]
  %1 = input "x1" : f32[9]
  %2 = huber_loss(%0, %1, delta=0.7) : f32[]
  return %2
}
kernel k0 = { %2 } pointwise

program hypot_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[5]
  %2 = hypot(%0, %1) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program hypot_last {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = hypot(%0, %1) : f32[20]
  return %2
}
kernel k0 = { %2 } pointwise

program im2col_first {
  %0 = input "x0" : f32[2,4,9,8]
  %1 = im2col(%0, dilation=[1,1], kernel_size=[3,2], padding=[1,0], stride=[2,1]) : f32[2,24,35]
  return %1
}
kernel k0 = { %1 } pointwise

program im2col_last {
  %0 = input "x0" : f32[4,9,8]
  %1 = im2col(%0, dilation=[2,1], kernel_size=[2,2], padding=[0,0], stride=[1,1]) : f32[16,49]
  return %1
}
kernel k0 = { %1 } pointwise

program index_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = input "x1" : i64[5]
  %2 = index(%0, %1) : f32[5,3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program index_last {
  %0 = input "x0" : f32[2,3,4,5]
  %1 = input "x1" : i64[3]
  %2 = input "x2" : i64[3]
  %3 = index(%0, none, %1, none, %2) : f32[3,2,4]
  return %3
}
kernel k0 = { %3 } pointwise

program index_select_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = input "x1" : i64[5]
  %2 = index_select(%0, %1, dim=-1) : f32[2,3,5]
  return %2
}
kernel k0 = { %2 } pointwise

program instance_norm_first {
  %0 = input "x0" : f32[2,3,4,5]
  %1 = input "x1" : f32[3]
  %2 = input "x2" : f32[3]
  %3 = instance_norm(%0, %1, %2, eps=1e-05) : f32[2,3,4,5]
  return %3
}
kernel k0 = { %3 } pointwise

program instance_norm_last {
  %0 = input "x0" : f32[2,3,9]
  %1 = instance_norm(%0, eps=1e-05) : f32[2,3,9]
  return %1
}
kernel k0 = { %1 } pointwise

program isfinite_first {
  %0 = input "x0" : f32[3,5]
  %1 = isfinite(%0) : b1[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program isfinite_last {
  %0 = input "x0" : f32[20]
  %1 = isfinite(%0) : b1[20]
  return %1
}
kernel k0 = { %1 } pointwise

program isinf_first {
  %0 = input "x0" : f32[3,5]
  %1 = isinf(%0) : b1[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program isinf_last {
  %0 = input "x0" : f32[20]
  %1 = isinf(%0) : b1[20]
  return %1
}
kernel k0 = { %1 } pointwise

program isnan_first {
  %0 = input "x0" : f32[3,5]
  %1 = isnan(%0) : b1[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program isnan_last {
  %0 = input "x0" : f32[20]
  %1 = isnan(%0) : b1[20]
  return %1
}
kernel k0 = { %1 } pointwise

program kl_div_first {
  %0 = input "x0" : f32[4]
  %1 = input "x1" : f32[4]
  %2 = kl_div(%0, %1, reduction=0) : f32[4]
  return %2
}
kernel k0 = { %2 } pointwise

program kl_div_last {
  %0 = input "x0" : f32[4]
  %1 = input "x1" : f32[4]
  %2 = kl_div(%0, %1, log_target=true, reduction=2) : f32[]
  return %2
}
kernel k0 = { %2 } pointwise

program l1_loss_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = l1_loss(%0, %1, reduction=0) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program l1_loss_last {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = l1_loss(%0, %1, reduction=2) : f32[]
  return %2
}
kernel k0 = { %2 } pointwise

program layer_norm_first {
  %0 = input "x0" : f32[3,8]
  %1 = layer_norm(%0, normalized_shape=[8]) : f32[3,8]
  return %1
}
kernel k0 = { %1 } pointwise

program layer_norm_last {
  %0 = input "x0" : f32[2,2]
  %1 = layer_norm(%0, normalized_shape=[2]) : f32[2,2]
  return %1
}
kernel k0 = { %1 } pointwise

program le_first {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = le(%0, %1) : b1[20]
  return %2
}
kernel k0 = { %2 } pointwise

program le_last {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = le(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program leaky_relu_first {
  %0 = input "x0" : f32[3,5]
  %1 = leaky_relu(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program leaky_relu_last {
  %0 = input "x0" : f32[20]
  %1 = leaky_relu(%0, negative_slope=0.2) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program lerp_first {
  %0 = input "x0" : f32[4]
  %1 = input "x1" : f32[4]
  %2 = constant "0.3" : f32[]
  %3 = lerp(%0, %1, %2) : f32[4]
  return %3
}
kernel k0 = { %3 } pointwise

program lerp_last {
  %0 = input "x0" : f32[4]
  %1 = input "x1" : f32[4]
  %2 = input "x2" : f32[4]
  %3 = lerp(%0, %1, %2) : f32[4]
  return %3
}
kernel k0 = { %3 } pointwise

program linear_first {
  %0 = input "x0" : f32[5,7]
  %1 = input "x1" : f32[3,7]
  %2 = input "x2" : f32[3]
  %3 = linear(%0, %1, %2) : f32[5,3]
  return %3
}
kernel k0 = { %3 } pointwise

program linear_last {
  %0 = input "x0" : f32[7]
  %1 = input "x1" : f32[3,7]
  %2 = input "x2" : f32[3]
  %3 = linear(%0, %1, %2) : f32[3]
  return %3
}
kernel k0 = { %3 } pointwise

program linspace_first {
  %0 = linspace(end=2.5, start=-1.0, steps=9) : f32[9]
  return %0
}
kernel k0 = { %0 } pointwise

program linspace_last {
  %0 = linspace(end=7, start=3, steps=1) : f32[1]
  return %0
}
kernel k0 = { %0 } pointwise

program log_first {
  %0 = input "x0" : f32[3,5]
  %1 = log(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program log_last {
  %0 = input "x0" : f32[20]
  %1 = log(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program log10_first {
  %0 = input "x0" : f32[3,5]
  %1 = log10(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program log10_last {
  %0 = input "x0" : f32[20]
  %1 = log10(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program log1p_first {
  %0 = input "x0" : f32[3,5]
  %1 = log1p(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program log1p_last {
  %0 = input "x0" : f32[20]
  %1 = log1p(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program log2_first {
  %0 = input "x0" : f32[3,5]
  %1 = log2(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program log2_last {
  %0 = input "x0" : f32[20]
  %1 = log2(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program log_sigmoid_first {
  %0 = input "x0" : f32[3,5]
  %1 = log_sigmoid(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program log_sigmoid_last {
  %0 = input "x0" : f32[20]
  %1 = log_sigmoid(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program log_softmax_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = log_softmax(%0, dim=1) : f32[3,4,5]
  return %1
}
kernel k0 = { %1 } pointwise

program log_softmax_last {
  %0 = input "x0" : f32[3,2]
  %1 = log_softmax(%0, dim=1) : f32[3,2]
  return %1
}
kernel k0 = { %1 } pointwise

program logaddexp_first {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = logaddexp(%0, %1) : f32[20]
  return %2
}
kernel k0 = { %2 } pointwise

program logaddexp_last {
  %0 = input "x0" : f32[3]
  %1 = input "x1" : f32[3]
  %2 = logaddexp(%0, %1) : f32[3]
  return %2
}
kernel k0 = { %2 } pointwise

program logaddexp2_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[5]
  %2 = logaddexp2(%0, %1) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program logaddexp2_last {
  %0 = input "x0" : f32[3]
  %1 = input "x1" : f32[3]
  %2 = logaddexp2(%0, %1) : f32[3]
  return %2
}
kernel k0 = { %2 } pointwise

program logical_and_first {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = logical_and(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program logical_and_last {
  %0 = input "x0" : i64[8]
  %1 = input "x1" : f32[8]
  %2 = logical_and(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program logical_not_first {
  %0 = input "x0" : f32[3,5]
  %1 = logical_not(%0) : b1[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program logical_not_last {
  %0 = input "x0" : f32[20]
  %1 = logical_not(%0) : b1[20]
  return %1
}
kernel k0 = { %1 } pointwise

program logical_or_first {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = logical_or(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program logical_or_last {
  %0 = input "x0" : i64[8]
  %1 = input "x1" : f32[8]
  %2 = logical_or(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program logical_xor_first {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = logical_xor(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program logical_xor_last {
  %0 = input "x0" : i64[8]
  %1 = input "x1" : f32[8]
  %2 = logical_xor(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program logit_first {
  %0 = input "x0" : f32[3,5]
  %1 = logit(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program logit_last {
  %0 = input "x0" : f32[4]
  %1 = logit(%0, eps=0.05) : f32[4]
  return %1
}
kernel k0 = { %1 } pointwise

program logsumexp_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = logsumexp(%0, dim=[1]) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program logsumexp_last {
  %0 = input "x0" : f32[3,4]
  %1 = logsumexp(%0, dim=[0,1]) : f32[]
  return %1
}
kernel k0 = { %1 } pointwise

program lstm_cell_first {
  %0 = input "x0" : f32[2,3]
  %1 = input "x1" : f32[2,4]
  %2 = input "x2" : f32[2,4]
  %3 = input "x3" : f32[16,3]
  %4 = input "x4" : f32[16,4]
  %5, %6 = lstm_cell(%0, %1, %2, %3, %4) : f32[2,4], f32[2,4]
  return %5, %6
}
kernel k0 = { %5 %6 } pointwise

program lstm_cell_last {
  %0 = input "x0" : f32[2,3]
  %1 = input "x1" : f32[2,4]
  %2 = input "x2" : f32[2,4]
  %3 = input "x3" : f32[16,3]
  %4 = input "x4" : f32[16,4]
  %5 = input "x5" : f32[16]
  %6 = input "x6" : f32[16]
  %7, %8 = lstm_cell(%0, %1, %2, %3, %4, %5, %6) : f32[2,4], f32[2,4]
  return %7, %8
}
kernel k0 = { %7 %8 } pointwise

program lt_first {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = lt(%0, %1) : b1[20]
  return %2
}
kernel k0 = { %2 } pointwise

program lt_last {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = lt(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program masked_fill_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : b1[4,5]
  %2 = constant "-inf" : f32[]
  %3 = masked_fill(%0, %1, %2) : f32[4,5]
  return %3
}
kernel k0 = { %3 } pointwise

program masked_fill_last {
  %0 = input "x0" : f32[4]
  %1 = input "x1" : b1[4]
  %2 = input "x2" : f32[]
  %3 = masked_fill(%0, %1, %2) : f32[4]
  return %3
}
kernel k0 = { %3 } pointwise

program matmul_first {
  %0 = input "x0" : f32[3]
  %1 = input "x1" : f32[3]
  %2 = matmul(%0, %1) : f32[]
  return %2
}
kernel k0 = { %2 } pointwise

program matmul_last {
  %0 = input "x0" : f32[3]
  %1 = input "x1" : f32[3]
  %2 = matmul(%0, %1) : f32[]
  return %2
}
kernel k0 = { %2 } pointwise

program max_dim_first {
  %0 = input "x0" : f32[3,4,5]
  %1, %2 = max_dim(%0, dim=1) : f32[3,5], i64[3,5]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program max_dim_last {
  %0 = input "x0" : b1[4,6]
  %1, %2 = max_dim(%0, dim=1) : b1[4], i64[4]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program max_pool1d_first {
  %0 = input "x0" : f32[2,3,9]
  %1 = max_pool1d(%0, kernel_size=[3], padding=[1], stride=[2]) : f32[2,3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program max_pool1d_with_indices_first {
  %0 = input "x0" : f32[2,3,9]
  %1, %2 = max_pool1d_with_indices(%0, kernel_size=[3], padding=[1], stride=[2]) : f32[2,3,5], i64[2,3,5]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program max_pool2d_first {
  %0 = input "x0" : f32[2,4,9,8]
  %1 = max_pool2d(%0, kernel_size=[2,2]) : f32[2,4,4,4]
  return %1
}
kernel k0 = { %1 } pointwise

program max_pool2d_last {
  %0 = input "x0" : f32[2,4,9,8]
  %1 = max_pool2d(%0, kernel_size=[3,3], padding=[1,1], stride=[2,2]) : f32[2,4,5,4]
  return %1
}
kernel k0 = { %1 } pointwise

program max_pool2d_with_indices_first {
  %0 = input "x0" : f32[2,4,9,8]
  %1, %2 = max_pool2d_with_indices(%0, kernel_size=[3,3], padding=[1,1], stride=[2,2]) : f32[2,4,5,4], i64[2,4,5,4]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program max_pool2d_with_indices_last {
  %0 = input "x0" : f32[1,1,4,4]
  %1, %2 = max_pool2d_with_indices(%0, kernel_size=[3,3], padding=[1,1], stride=[1,1]) : f32[1,1,4,4], i64[1,1,4,4]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program max_pool3d_first {
  %0 = input "x0" : f32[1,2,4,5,6]
  %1 = max_pool3d(%0, kernel_size=[2,2,3], stride=[1,2,2]) : f32[1,2,3,2,2]
  return %1
}
kernel k0 = { %1 } pointwise

program max_pool3d_with_indices_first {
  %0 = input "x0" : f32[1,2,4,5,6]
  %1, %2 = max_pool3d_with_indices(%0, kernel_size=[2,2,3], stride=[1,2,2]) : f32[1,2,3,2,2], i64[1,2,3,2,2]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program maximum_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[5]
  %2 = maximum(%0, %1) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program maximum_last {
  %0 = input "x0" : f32[4]
  %1 = input "x1" : f32[4]
  %2 = maximum(%0, %1) : f32[4]
  return %2
}
kernel k0 = { %2 } pointwise

program mean_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = mean(%0) : f32[]
  return %1
}
kernel k0 = { %1 } pointwise

program mean_last {
  %0 = input "x0" : i64[3,4]
  %1 = mean(%0, dim=[1], dtype=f64) : f64[3]
  return %1
}
kernel k0 = { %1 } pointwise

program min_dim_first {
  %0 = input "x0" : f32[3,4,5]
  %1, %2 = min_dim(%0, dim=1) : f32[3,5], i64[3,5]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program min_dim_last {
  %0 = input "x0" : i64[4,6]
  %1, %2 = min_dim(%0, dim=1) : i64[4], i64[4]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program minimum_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[5]
  %2 = minimum(%0, %1) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program minimum_last {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = minimum(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program mish_first {
  %0 = input "x0" : f32[3,5]
  %1 = mish(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program mish_last {
  %0 = input "x0" : f32[20]
  %1 = mish(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program mse_loss_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = mse_loss(%0, %1, reduction=0) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program mse_loss_last {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = mse_loss(%0, %1, reduction=2) : f32[]
  return %2
}
kernel k0 = { %2 } pointwise

program mul_first {
  %0 = input "x0" : f32[3,5]
  %1 = input "x1" : f32[3,5]
  %2 = mul(%0, %1) : f32[3,5]
  return %2
}
kernel k0 = { %2 } pointwise

program mul_last {
  %0 = input "x0" : u8[4]
  %1 = input "x1" : i8[4]
  %2 = mul(%0, %1) : i16[4]
  return %2
}
kernel k0 = { %2 } pointwise

program multi_margin_loss_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : i64[4]
  %2 = input "x2" : f32[5]
  %3 = multi_margin_loss(%0, %1, %2, margin=0.7, p=2, reduction=0) : f32[4]
  return %3
}
kernel k0 = { %3 } pointwise

program multi_margin_loss_last {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : i64[4]
  %2 = multi_margin_loss(%0, %1) : f32[]
  return %2
}
kernel k0 = { %2 } pointwise

program nan_to_num_first {
  %0 = input "x0" : f32[3,5]
  %1 = nan_to_num(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program nan_to_num_last {
  %0 = input "x0" : f32[20]
  %1 = nan_to_num(%0, nan=1.0, neginf=-2.0, posinf=2.0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program nansum_first {
  %0 = input "x0" : f32[4]
  %1 = nansum(%0) : f32[]
  return %1
}
kernel k0 = { %1 } pointwise

program nansum_last {
  %0 = input "x0" : f32[4,5]
  %1 = nansum(%0, dim=[1], keepdim=true) : f32[4,1]
  return %1
}
kernel k0 = { %1 } pointwise

program native_layer_norm_first {
  %0 = input "x0" : f32[3,4,8]
  %1 = input "x1" : f32[8]
  %2 = input "x2" : f32[8]
  %3, %4, %5 = native_layer_norm(%0, %1, %2, eps=1e-05, normalized_shape=[8]) : f32[3,4,8], f32[3,4,1], f32[3,4,1]
  return %3, %4, %5
}
kernel k0 = { %3 %4 %5 } pointwise

program ne_first {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = ne(%0, %1) : b1[20]
  return %2
}
kernel k0 = { %2 } pointwise

program ne_last {
  %0 = input "x0" : b1[8]
  %1 = input "x1" : b1[8]
  %2 = ne(%0, %1) : b1[8]
  return %2
}
kernel k0 = { %2 } pointwise

program neg_first {
  %0 = input "x0" : f32[3,5]
  %1 = neg(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program neg_last {
  %0 = input "x0" : f32[20]
  %1 = neg(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program nll_loss_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : i64[4]
  %2 = input "x2" : f32[5]
  %3 = nll_loss(%0, %1, %2, reduction=0) : f32[4]
  return %3
}
kernel k0 = { %3 } pointwise

program nll_loss_last {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : i64[4]
  %2 = input "x2" : f32[5]
  %3 = nll_loss(%0, %1, %2, reduction=2) : f32[]
  return %3
}
kernel k0 = { %3 } pointwise

program one_hot_first {
  %0 = input "x0" : i64[2,3]
  %1 = one_hot(%0, num_classes=5) : i64[2,3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program outer_first {
  %0 = input "x0" : f32[3]
  %1 = input "x1" : f32[4]
  %2 = outer(%0, %1) : f32[3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program pad_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = pad(%0, pad=[1,2]) : f32[2,3,7]
  return %1
}
kernel k0 = { %1 } pointwise

program pad_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = pad(%0, mode="replicate", pad=[2,7]) : f32[2,3,13]
  return %1
}
kernel k0 = { %1 } pointwise

program permute_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = permute(%0, dims=[2,0,-2]) : f32[4,2,3]
  return %1
}
kernel k0 = { %1 } pointwise

program pixel_shuffle_first {
  %0 = input "x0" : f32[2,8,3,4]
  %1 = pixel_shuffle(%0, factor=2) : f32[2,2,6,8]
  return %1
}
kernel k0 = { %1 } pointwise

program pixel_unshuffle_first {
  %0 = input "x0" : f32[2,3,4,6]
  %1 = pixel_unshuffle(%0, factor=2) : f32[2,12,2,3]
  return %1
}
kernel k0 = { %1 } pointwise

program pow_first {
  %0 = input "x0" : f32[6]
  %1 = input "x1" : f32[6]
  %2 = pow(%0, %1) : f32[6]
  return %2
}
kernel k0 = { %2 } pointwise

program pow_last {
  %0 = input "x0" : f32[6]
  %1 = constant "2.0" : f32[]
  %2 = pow(%1, %0) : f32[6]
  return %2
}
kernel k0 = { %2 } pointwise

program pow_scalar_first {
  %0 = input "x0" : f32[6]
  %1 = pow_scalar(%0, exponent=2) : f32[6]
  return %1
}
kernel k0 = { %1 } pointwise

program pow_scalar_last {
  %0 = input "x0" : i64[6]
  %1 = pow_scalar(%0, exponent=0.5) : f32[6]
  return %1
}
kernel k0 = { %1 } pointwise

program prelu_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = input "x1" : f32[3]
  %2 = prelu(%0, %1) : f32[2,3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program prelu_last {
  %0 = input "x0" : f32[5]
  %1 = input "x1" : f32[1]
  %2 = prelu(%0, %1) : f32[5]
  return %2
}
kernel k0 = { %2 } pointwise

program prod_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = prod(%0) : f32[]
  return %1
}
kernel k0 = { %1 } pointwise

program prod_last {
  %0 = input "x0" : b1[3,4]
  %1 = prod(%0) : i64[]
  return %1
}
kernel k0 = { %1 } pointwise

program rad2deg_first {
  %0 = input "x0" : f32[3,5]
  %1 = rad2deg(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program rad2deg_last {
  %0 = input "x0" : i64[4]
  %1 = rad2deg(%0) : f32[4]
  return %1
}
kernel k0 = { %1 } pointwise

program reciprocal_first {
  %0 = input "x0" : f32[3,5]
  %1 = reciprocal(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program reciprocal_last {
  %0 = input "x0" : f32[20]
  %1 = reciprocal(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program relu_first {
  %0 = input "x0" : f32[3,5]
  %1 = relu(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program relu_last {
  %0 = input "x0" : f32[20]
  %1 = relu(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program relu6_first {
  %0 = input "x0" : f32[3,5]
  %1 = relu6(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program relu6_last {
  %0 = input "x0" : f32[20]
  %1 = relu6(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program remainder_first {
  %0 = input "x0" : i64[40]
  %1 = input "x1" : i64[40]
  %2 = remainder(%0, %1) : i64[40]
  return %2
}
kernel k0 = { %2 } pointwise

program remainder_last {
  %0 = input "x0" : f32[5]
  %1 = constant "7.0" : f32[]
  %2 = remainder(%1, %0) : f32[5]
  return %2
}
kernel k0 = { %2 } pointwise

program repeat_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = repeat(%0, repeats=[2,1,1,3]) : f32[2,2,3,12]
  return %1
}
kernel k0 = { %1 } pointwise

program repeat_interleave_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = repeat_interleave(%0, dim=1, repeats=3) : f32[2,9,4]
  return %1
}
kernel k0 = { %1 } pointwise

program repeat_interleave_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = repeat_interleave(%0, repeats=2) : f32[48]
  return %1
}
kernel k0 = { %1 } pointwise

program reshape_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = reshape(%0, shape=[24]) : f32[24]
  return %1
}
kernel k0 = { %1 } pointwise

program reshape_last {
  %0 = input "x0" : f32[]
  %1 = reshape(%0, shape=[1,1]) : f32[1,1]
  return %1
}
kernel k0 = { %1 } pointwise

program rms_norm_first {
  %0 = input "x0" : f32[3,8]
  %1 = input "x1" : f32[8]
  %2 = rms_norm(%0, %1, eps=1e-06, normalized_shape=[8]) : f32[3,8]
  return %2
}
kernel k0 = { %2 } pointwise

program rms_norm_last {
  %0 = input "x0" : f32[3,4,8]
  %1 = rms_norm(%0, normalized_shape=[4,8]) : f32[3,4,8]
  return %1
}
kernel k0 = { %1 } pointwise

program rnn_relu_cell_first {
  %0 = input "x0" : f32[2,3]
  %1 = input "x1" : f32[2,4]
  %2 = input "x2" : f32[4,3]
  %3 = input "x3" : f32[4,4]
  %4 = rnn_relu_cell(%0, %1, %2, %3) : f32[2,4]
  return %4
}
kernel k0 = { %4 } pointwise

program rnn_relu_cell_last {
  %0 = input "x0" : f32[2,3]
  %1 = input "x1" : f32[2,4]
  %2 = input "x2" : f32[4,3]
  %3 = input "x3" : f32[4,4]
  %4 = input "x4" : f32[4]
  %5 = input "x5" : f32[4]
  %6 = rnn_relu_cell(%0, %1, %2, %3, %4, %5) : f32[2,4]
  return %6
}
kernel k0 = { %6 } pointwise

program rnn_tanh_cell_first {
  %0 = input "x0" : f32[2,3]
  %1 = input "x1" : f32[2,4]
  %2 = input "x2" : f32[4,3]
  %3 = input "x3" : f32[4,4]
  %4 = rnn_tanh_cell(%0, %1, %2, %3) : f32[2,4]
  return %4
}
kernel k0 = { %4 } pointwise

program rnn_tanh_cell_last {
  %0 = input "x0" : f32[2,3]
  %1 = input "x1" : f32[2,4]
  %2 = input "x2" : f32[4,3]
  %3 = input "x3" : f32[4,4]
  %4 = input "x4" : f32[4]
  %5 = input "x5" : f32[4]
  %6 = rnn_tanh_cell(%0, %1, %2, %3, %4, %5) : f32[2,4]
  return %6
}
kernel k0 = { %6 } pointwise

program roll_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = roll(%0, dims=[0,2], shifts=[1,-5]) : f32[2,3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program roll_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = roll(%0, shifts=[7]) : f32[2,3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program rot90_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = rot90(%0, dims=[1,2]) : f32[2,4,3]
  return %1
}
kernel k0 = { %1 } pointwise

program rot90_last {
  %0 = input "x0" : f32[2,3]
  %1 = rot90(%0) : f32[3,2]
  return %1
}
kernel k0 = { %1 } pointwise

program round_first {
  %0 = input "x0" : f32[3,5]
  %1 = round(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program round_last {
  %0 = input "x0" : f32[20]
  %1 = round(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program rsqrt_first {
  %0 = input "x0" : f32[3,5]
  %1 = rsqrt(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program rsqrt_last {
  %0 = input "x0" : f32[20]
  %1 = rsqrt(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program rsub_first {
  %0 = input "x0" : f32[3,5]
  %1 = input "x1" : f32[3,5]
  %2 = rsub(%0, %1) : f32[3,5]
  return %2
}
kernel k0 = { %2 } pointwise

program rsub_last {
  %0 = input "x0" : f32[3]
  %1 = constant "2.0" : f32[]
  %2 = rsub(%0, %1, alpha=3) : f32[3]
  return %2
}
kernel k0 = { %2 } pointwise

program scaled_dot_product_attention_first {
  %0 = input "x0" : f32[2,3,4,8]
  %1 = input "x1" : f32[2,3,6,8]
  %2 = input "x2" : f32[2,3,6,5]
  %3 = scaled_dot_product_attention(%0, %1, %2) : f32[2,3,4,5]
  return %3
}
kernel k0 = { %3 } pointwise

program scaled_dot_product_attention_last {
  %0 = input "x0" : f32[2,4,8]
  %1 = input "x1" : f32[2,4,8]
  %2 = input "x2" : f32[2,4,8]
  %3 = scaled_dot_product_attention(%0, %1, %2, is_causal=true) : f32[2,4,8]
  return %3
}
kernel k0 = { %3 } pointwise

program select_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = select(%0, dim=1, index=-1) : f32[2,4]
  return %1
}
kernel k0 = { %1 } pointwise

program select_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = select(%0, dim=-1, index=2) : f32[2,3]
  return %1
}
kernel k0 = { %1 } pointwise

program select_scatter_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = input "x1" : f32[2,4]
  %2 = select_scatter(%0, %1, dim=1, index=-1) : f32[2,3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program selu_first {
  %0 = input "x0" : f32[3,5]
  %1 = selu(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program selu_last {
  %0 = input "x0" : f32[20]
  %1 = selu(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program sigmoid_first {
  %0 = input "x0" : f32[3,5]
  %1 = sigmoid(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program sigmoid_last {
  %0 = input "x0" : f32[20]
  %1 = sigmoid(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program sign_first {
  %0 = input "x0" : f32[3,5]
  %1 = sign(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program sign_last {
  %0 = input "x0" : f32[20]
  %1 = sign(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program signbit_first {
  %0 = input "x0" : f32[6]
  %1 = signbit(%0) : b1[6]
  return %1
}
kernel k0 = { %1 } pointwise

program signbit_last {
  %0 = input "x0" : i64[5]
  %1 = signbit(%0) : b1[5]
  return %1
}
kernel k0 = { %1 } pointwise

program silu_first {
  %0 = input "x0" : f32[3,5]
  %1 = silu(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program silu_last {
  %0 = input "x0" : f32[20]
  %1 = silu(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program sin_first {
  %0 = input "x0" : f32[3,5]
  %1 = sin(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program sin_last {
  %0 = input "x0" : f32[20]
  %1 = sin(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program sinh_first {
  %0 = input "x0" : f32[3,5]
  %1 = sinh(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program sinh_last {
  %0 = input "x0" : f32[20]
  %1 = sinh(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program slice_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = slice(%0, dim=1, end=3, start=1) : f32[2,2,4]
  return %1
}
kernel k0 = { %1 } pointwise

program slice_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = slice(%0, dim=2, end=-1, start=0) : f32[2,3,3]
  return %1
}
kernel k0 = { %1 } pointwise

program slice_scatter_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = input "x1" : f32[2,2,4]
  %2 = slice_scatter(%0, %1, dim=1, end=3, start=1) : f32[2,3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program slice_scatter_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = input "x1" : f32[1,3,4]
  %2 = slice_scatter(%0, %1, end=9, start=-1) : f32[2,3,4]
  return %2
}
kernel k0 = { %2 } pointwise

program smooth_l1_loss_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = smooth_l1_loss(%0, %1, reduction=0) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program smooth_l1_loss_last {
  %0 = input "x0" : f32[9]
  %1 = input "x1" : f32[9]
  %2 = smooth_l1_loss(%0, %1, beta=0.0) : f32[]
  return %2
}
kernel k0 = { %2 } pointwise

program soft_margin_loss_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = soft_margin_loss(%0, %1, reduction=0) : f32[4,5]
  return %2
}
kernel k0 = { %2 } pointwise

program soft_margin_loss_last {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = soft_margin_loss(%0, %1, reduction=2) : f32[]
  return %2
}
kernel k0 = { %2 } pointwise

program softmax_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = softmax(%0, dim=1) : f32[3,4,5]
  return %1
}
kernel k0 = { %1 } pointwise

program softmax_last {
  %0 = input "x0" : f32[3,4]
  %1 = softmax(%0, dim=0) : f32[3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program softplus_first {
  %0 = input "x0" : f32[3,5]
  %1 = softplus(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program softplus_last {
  %0 = input "x0" : f32[20]
  %1 = softplus(%0, beta=2.0, threshold=10.0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program softshrink_first {
  %0 = input "x0" : f32[3,5]
  %1 = softshrink(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program softshrink_last {
  %0 = input "x0" : f32[20]
  %1 = softshrink(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program sqrt_first {
  %0 = input "x0" : f32[3,5]
  %1 = sqrt(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program sqrt_last {
  %0 = input "x0" : f32[20]
  %1 = sqrt(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program square_first {
  %0 = input "x0" : f32[3,5]
  %1 = square(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program square_last {
  %0 = input "x0" : f32[20]
  %1 = square(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program squeeze_first {
  %0 = input "x0" : f32[1,3,1]
  %1 = squeeze(%0, dim=-1) : f32[1,3]
  return %1
}
kernel k0 = { %1 } pointwise

program squeeze_last {
  %0 = input "x0" : f32[1,3,1,1]
  %1 = squeeze(%0, dim=[0,-1]) : f32[3,1]
  return %1
}
kernel k0 = { %1 } pointwise

program squeeze_all_first {
  %0 = input "x0" : f32[1,3,1]
  %1 = squeeze_all(%0) : f32[3]
  return %1
}
kernel k0 = { %1 } pointwise

program stack_first {
  %0 = input "x0" : f32[3,2]
  %1 = input "x1" : f32[3,2]
  %2 = input "x2" : f32[3,2]
  %3 = stack(%0, %1, %2, dim=-1) : f32[3,2,3]
  return %3
}
kernel k0 = { %3 } pointwise

program stack_last {
  %0 = input "x0" : i64[3]
  %1 = input "x1" : f32[3]
  %2 = stack(%0, %1) : f32[2,3]
  return %2
}
kernel k0 = { %2 } pointwise

program std_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = std(%0, correction=2, dim=[1]) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program std_last {
  %0 = input "x0" : f32[3,7]
  %1 = std(%0) : f32[]
  return %1
}
kernel k0 = { %1 } pointwise

program std_mean_first {
  %0 = input "x0" : f32[3,4,5]
  %1, %2 = std_mean(%0, correction=2, dim=[1]) : f32[3,5], f32[3,5]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program std_mean_last {
  %0 = input "x0" : f32[3,4,5]
  %1, %2 = std_mean(%0, correction=2, dim=[-3,1]) : f32[5], f32[5]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program sub_first {
  %0 = input "x0" : f32[3,5]
  %1 = input "x1" : f32[3,5]
  %2 = sub(%0, %1) : f32[3,5]
  return %2
}
kernel k0 = { %2 } pointwise

program sub_last {
  %0 = input "x0" : i64[3]
  %1 = input "x1" : i64[3]
  %2 = sub(%0, %1, alpha=3) : i64[3]
  return %2
}
kernel k0 = { %2 } pointwise

program sum_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = sum(%0) : f32[]
  return %1
}
kernel k0 = { %1 } pointwise

program sum_last {
  %0 = input "x0" : i64[3]
  %1 = sum(%0, dtype=f64) : f64[]
  return %1
}
kernel k0 = { %1 } pointwise

program t_first {
  %0 = input "x0" : f32[3,4]
  %1 = t(%0) : f32[4,3]
  return %1
}
kernel k0 = { %1 } pointwise

program t_last {
  %0 = input "x0" : f32[3]
  %1 = t(%0) : f32[3]
  return %1
}
kernel k0 = { %1 } pointwise

program take_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = input "x1" : i64[2,5]
  %2 = take(%0, %1) : f32[2,5]
  return %2
}
kernel k0 = { %2 } pointwise

program tan_first {
  %0 = input "x0" : f32[3,5]
  %1 = tan(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program tan_last {
  %0 = input "x0" : f32[20]
  %1 = tan(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program tanh_first {
  %0 = input "x0" : f32[3,5]
  %1 = tanh(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program tanh_last {
  %0 = input "x0" : f32[20]
  %1 = tanh(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program threshold_first {
  %0 = input "x0" : f32[20]
  %1 = threshold(%0, threshold=0.1, value=20.0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program tile_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = tile(%0, repeats=[2,3]) : f32[2,6,12]
  return %1
}
kernel k0 = { %1 } pointwise

program to_first {
  %0 = input "x0" : f32[5]
  %1 = to(%0, dtype=f32) : f32[5]
  return %1
}
kernel k0 = { %1 } pointwise

program to_last {
  %0 = input "x0" : i64[5]
  %1 = to(%0, dtype=f64) : f64[5]
  return %1
}
kernel k0 = { %1 } pointwise

program topk_first {
  %0 = input "x0" : f32[3,4,5]
  %1, %2 = topk(%0, k=2) : f32[3,4,2], i64[3,4,2]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program topk_last {
  %0 = input "x0" : f32[2,200]
  %1, %2 = topk(%0, k=3, sorted=false) : f32[2,3], i64[2,3]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program trace_first {
  %0 = input "x0" : f32[4,5]
  %1 = trace(%0) : f32[]
  return %1
}
kernel k0 = { %1 } pointwise

program trace_last {
  %0 = input "x0" : i64[5,4]
  %1 = trace(%0) : i64[]
  return %1
}
kernel k0 = { %1 } pointwise

program transpose_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = transpose(%0, dim0=0, dim1=-1) : f32[4,3,2]
  return %1
}
kernel k0 = { %1 } pointwise

program tril_first {
  %0 = input "x0" : f32[2,4,5]
  %1 = tril(%0) : f32[2,4,5]
  return %1
}
kernel k0 = { %1 } pointwise

program tril_last {
  %0 = input "x0" : f32[2,4,5]
  %1 = tril(%0, diagonal=-2) : f32[2,4,5]
  return %1
}
kernel k0 = { %1 } pointwise

program triplet_margin_loss_first {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = input "x2" : f32[4,5]
  %3 = triplet_margin_loss(%0, %1, %2, margin=1.5, reduction=0) : f32[4]
  return %3
}
kernel k0 = { %3 } pointwise

program triplet_margin_loss_last {
  %0 = input "x0" : f32[4,5]
  %1 = input "x1" : f32[4,5]
  %2 = input "x2" : f32[4,5]
  %3 = triplet_margin_loss(%0, %1, %2, p=3.0) : f32[]
  return %3
}
kernel k0 = { %3 } pointwise

program triu_first {
  %0 = input "x0" : f32[2,4,5]
  %1 = triu(%0) : f32[2,4,5]
  return %1
}
kernel k0 = { %1 } pointwise

program triu_last {
  %0 = input "x0" : f32[3,3]
  %1 = triu(%0, diagonal=1) : f32[3,3]
  return %1
}
kernel k0 = { %1 } pointwise

program trunc_first {
  %0 = input "x0" : f32[3,5]
  %1 = trunc(%0) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program trunc_last {
  %0 = input "x0" : f32[20]
  %1 = trunc(%0) : f32[20]
  return %1
}
kernel k0 = { %1 } pointwise

program type_as_first {
  %0 = input "x0" : f32[4]
  %1 = input "x1" : i64[1]
  %2 = type_as(%0, %1) : i64[4]
  return %2
}
kernel k0 = { %2 } pointwise

program unfold_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = unfold(%0, dimension=2, size=2, step=1) : f32[2,3,3,2]
  return %1
}
kernel k0 = { %1 } pointwise

program unfold_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = unfold(%0, dimension=1, size=2, step=2) : f32[2,1,4,2]
  return %1
}
kernel k0 = { %1 } pointwise

program unsqueeze_first {
  %0 = input "x0" : f32[2,3,4]
  %1 = unsqueeze(%0, dim=0) : f32[1,2,3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program unsqueeze_last {
  %0 = input "x0" : f32[2,3,4]
  %1 = unsqueeze(%0, dim=-4) : f32[1,2,3,4]
  return %1
}
kernel k0 = { %1 } pointwise

program upsample_cubic_first {
  %0 = input "x0" : f32[1,2,5,4]
  %1 = upsample_cubic(%0, align_corners=false, size=[7,9]) : f32[1,2,7,9]
  return %1
}
kernel k0 = { %1 } pointwise

program upsample_cubic_last {
  %0 = input "x0" : f32[1,2,5,4]
  %1 = upsample_cubic(%0, align_corners=false, factor0=1.5, factor1=2.0) : f32[1,2,7,8]
  return %1
}
kernel k0 = { %1 } pointwise

program upsample_linear_first {
  %0 = input "x0" : f32[1,2,5,4]
  %1 = upsample_linear(%0, align_corners=false, size=[7,9]) : f32[1,2,7,9]
  return %1
}
kernel k0 = { %1 } pointwise

program upsample_linear_last {
  %0 = input "x0" : f32[1,2,3,4,2]
  %1 = upsample_linear(%0, align_corners=true, size=[5,6,3]) : f32[1,2,5,6,3]
  return %1
}
kernel k0 = { %1 } pointwise

program upsample_nearest_first {
  %0 = input "x0" : f32[1,2,3,4]
  %1 = upsample_nearest(%0, factors=[2,3]) : f32[1,2,6,12]
  return %1
}
kernel k0 = { %1 } pointwise

program upsample_nearest_last {
  %0 = input "x0" : f32[1,1,2,2,2]
  %1 = upsample_nearest(%0, factors=[2,2,2]) : f32[1,1,4,4,4]
  return %1
}
kernel k0 = { %1 } pointwise

program upsample_nearest_any_first {
  %0 = input "x0" : f32[1,2,5,4]
  %1 = upsample_nearest_any(%0, size=[8,3]) : f32[1,2,8,3]
  return %1
}
kernel k0 = { %1 } pointwise

program upsample_nearest_any_last {
  %0 = input "x0" : f32[1,2,5,4]
  %1 = upsample_nearest_any(%0, exact=true, size=[8,3]) : f32[1,2,8,3]
  return %1
}
kernel k0 = { %1 } pointwise

program var_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = var(%0, correction=2, dim=[1]) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program var_last {
  %0 = input "x0" : f32[3,7]
  %1 = var(%0) : f32[]
  return %1
}
kernel k0 = { %1 } pointwise

program var_mean_first {
  %0 = input "x0" : f32[3,4,5]
  %1, %2 = var_mean(%0, correction=2, dim=[1]) : f32[3,5], f32[3,5]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program var_mean_last {
  %0 = input "x0" : f32[3,7]
  %1, %2 = var_mean(%0, correction=false, dim=[1]) : f32[3], f32[3]
  return %1, %2
}
kernel k0 = { %1 %2 } pointwise

program vector_norm_first {
  %0 = input "x0" : f32[3,4,5]
  %1 = vector_norm(%0, dim=[1]) : f32[3,5]
  return %1
}
kernel k0 = { %1 } pointwise

program vector_norm_last {
  %0 = input "x0" : f32[3,4]
  %1 = vector_norm(%0, dim=[1], keepdim=true, ord=3) : f32[3,1]
  return %1
}
kernel k0 = { %1 } pointwise

program where_first {
  %0 = input "x0" : b1[4,5]
  %1 = input "x1" : f32[5]
  %2 = input "x2" : f32[4,1]
  %3 = where(%0, %1, %2) : f32[4,5]
  return %3
}
kernel k0 = { %3 } pointwise

program where_last {
  %0 = input "x0" : b1[4]
  %1 = constant "1.0" : f32[]
  %2 = constant "0.0" : f32[]
  %3 = where(%0, %1, %2) : f32[4]
  return %3
}
kernel k0 = { %3 } pointwise

program xlogy_first {
  %0 = input "x0" : f32[20]
  %1 = input "x1" : f32[20]
  %2 = xlogy(%0, %1) : f32[20]
  return %2
}
kernel k0 = { %2 } pointwise

program xlogy_last {
  %0 = input "x0" : f32[4]
  %1 = constant "0.5" : f32[]
  %2 = xlogy(%0, %1) : f32[4]
  return %2
}
kernel k0 = { %2 } pointwise

