// A decoder that returns its environment.
import { getPriority } from 'node:os'

await Bun.stdin.bytes()
const given = { names: Object.keys(process.env), folder: process.cwd(), priority: getPriority() }
await Bun.write(Bun.stdout, JSON.stringify(given))
