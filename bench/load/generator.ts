// The load generator's process. Reads plans from stdin, one JSON text per line, and writes a reply per plan to stdout.
// Ends when stdin ends, so that a generator on another machine ends with its SSH connection.
import type { GeneratorReply, GeneratorRequest } from './plan.ts'
import { runLoad } from './run-load.ts'

const reply = (message: GeneratorReply): void => void process.stdout.write(`${JSON.stringify(message)}\n`)

reply({ type: 'ready' })
for await (const line of console) {
  const { plan } = JSON.parse(line) as GeneratorRequest
  try {
    reply({ type: 'report', report: await runLoad(plan) })
  } catch (cause) {
    reply({ type: 'failed', reason: cause instanceof Error ? cause.message : String(cause) })
  }
}
process.exit(0)
