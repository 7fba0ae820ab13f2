// A decoder that never finishes and ignores signals.
await Bun.stdin.bytes()
for (;;);

export {}
