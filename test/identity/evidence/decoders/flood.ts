// A decoder with endless output.
const piece = new Uint8Array(2 ** 20)
for (;;) await Bun.write(Bun.stdout, piece)

export {}
