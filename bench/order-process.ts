// A child process that executes orders, one at a time, and replies to each: a load generator or the identity client.
import type { Processes, ProcessOptions } from './processes.ts'

export type OrderReply = { readonly type: string } | { readonly type: 'failed'; readonly reason: string }

/**
 * Starts the process and waits until it is ready.
 * @returns a function that sends an order and resolves to its reply. It rejects with the process's reason, or with its
 * last output if the process has ended
 */
export const startOrderProcess = async <Order, Reply extends OrderReply>(
  processes: Processes,
  options: Omit<ProcessOptions, 'onMessage' | 'onExit'>,
): Promise<(order: Order) => Promise<Exclude<Reply, { readonly type: 'failed' }>>> => {
  type Answer = Exclude<Reply, { readonly type: 'failed' }>
  let pending = Promise.withResolvers<Answer>()
  const settle = (message: unknown): void => {
    const reply = message as Reply
    if ('reason' in reply) pending.reject(new Error(`${options.name}: ${reply.reason}`))
    else pending.resolve(reply as Answer)
  }
  const failEnded = async (): Promise<void> => {
    const output = await child.output()
    pending.reject(new Error(`the ${options.name} ended (exit code ${child.exitCode()}) ${output}`.trim()))
  }
  const child = processes.start({ ...options, onMessage: settle, onExit: () => void failEnded() })
  await pending.promise
  return (order) => {
    pending = Promise.withResolvers()
    if (child.exitCode() === null) child.send(order)
    else void failEnded()
    return pending.promise
  }
}
