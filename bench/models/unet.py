"""A U-Net as people write it: two convolutions with batch norm a level, max-pooling down, transposed convolution up."""

import torch


class Double(torch.nn.Sequential):
    def __init__(self, inside, outside):
        super().__init__(
            torch.nn.Conv2d(inside, outside, 3, padding=1),
            torch.nn.BatchNorm2d(outside),
            torch.nn.ReLU(),
            torch.nn.Conv2d(outside, outside, 3, padding=1),
            torch.nn.BatchNorm2d(outside),
            torch.nn.ReLU(),
        )


class UNet(torch.nn.Module):
    def __init__(self, width, levels=3, classes=4):
        super().__init__()
        widths = [width << level for level in range(levels)]
        self.down = torch.nn.ModuleList(map(Double, [3, *widths[:-1]], widths))
        self.up = torch.nn.ModuleList(torch.nn.ConvTranspose2d(2 * w, w, 2, stride=2) for w in widths[-2::-1])
        self.join = torch.nn.ModuleList(Double(2 * w, w) for w in widths[-2::-1])
        self.head = torch.nn.Conv2d(width, classes, 1)

    def forward(self, x):
        kept = []
        for level, block in enumerate(self.down):
            x = block(torch.nn.functional.max_pool2d(x, 2) if level else x)
            kept.append(x)
        for up, join, skip in zip(self.up, self.join, kept[-2::-1], strict=True):
            x = join(torch.cat([skip, up(x)], 1))
        return self.head(x)
