// A decoder that never comes to an end, and can't be asked to.
await Bun.stdin.bytes()
for (;;);

export {}
