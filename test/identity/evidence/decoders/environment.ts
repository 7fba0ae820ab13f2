// Answers with what it was given besides the picture.
await Bun.stdin.bytes()
await Bun.write(Bun.stdout, JSON.stringify({ names: Object.keys(process.env), folder: process.cwd() }))

export {}
