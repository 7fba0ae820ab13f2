// The bench's end of the generator: starts its process, sends plans, takes reports.
import type { Processes } from '../processes.ts'
import type { GeneratorReply, GeneratorRequest, LoadPlan, LoadReport } from './plan.ts'

export interface LoadClient {
  /** One run at a time. @throws Error with the generator's reason when the run fails. */
  run(plan: LoadPlan): Promise<LoadReport>
}

export const startLoadClient = async (processes: Processes): Promise<LoadClient> => {
  let settle: { resolve(reply: GeneratorReply): void; reject(error: Error): void } | null = null
  const next = () =>
    new Promise<GeneratorReply>((resolve, reject) => {
      settle = { resolve, reject }
    })
  const started = next()
  const child = processes.start({
    name: 'load generator',
    command: [process.execPath, new URL('./generator.ts', import.meta.url).pathname],
    onMessage: (message) => settle?.resolve(message as GeneratorReply),
    onExit: (code) => settle?.reject(new Error(`the load generator ended (exit code ${code})`)),
  })
  await started

  return {
    async run(plan) {
      const answer = next()
      const request: GeneratorRequest = { type: 'run', plan }
      child.send(request)
      const reply = await answer
      if (reply.type === 'report') return reply.report
      throw new Error(reply.type === 'failed' ? reply.reason : 'the load generator restarted')
    },
  }
}
