// The load generator's process: takes plans over IPC, one at a time, and ends with its parent.
import type { GeneratorReply, GeneratorRequest } from './plan.ts'
import { runLoad } from './run-load.ts'

const reply = (message: GeneratorReply): void => {
  process.send?.(message)
}

process.on('message', (message: GeneratorRequest) => {
  runLoad(message.plan).then(
    (report) => reply({ type: 'report', report }),
    (cause: unknown) => reply({ type: 'failed', reason: cause instanceof Error ? cause.message : String(cause) }),
  )
})
process.on('disconnect', () => process.exit(0))
reply({ type: 'ready' })
