// Helper process without the service's secrets.
import { ownProcess } from '../program/entries.ts'
import { sendToChild } from './send.ts'

export interface BackgroundChildOptions<Message> {
  /** Entry file relative to the repository root, then arguments. */
  readonly commandLine: readonly [string, ...string[]]
  /** Favors a small heap over speed. */
  readonly isSmall?: true
  readonly input: Uint8Array | null
  readonly onMessage: (message: Message) => void
  readonly onExit: () => void
}

export interface BackgroundChild<Order> {
  send(order: Order): void
  kill(): void
  /** Sends a message that ends the process; kills it after `withinMs`. */
  end(order: Order, withinMs: number): Promise<void>
}

/** Discards the output, which may contain secrets. */
export const startBackgroundChild = <Message, Order>(
  options: BackgroundChildOptions<Message>,
): BackgroundChild<Order> => {
  const { commandLine, isSmall, input, onMessage, onExit } = options
  const [entry, ...commandArguments] = commandLine
  const program = ownProcess(entry, isSmall)
  const child = Bun.spawn([...program.words, ...commandArguments], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...program.environment },
    stdin: input ?? 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    serialization: 'json',
    ipc: (message: Message) => onMessage(message),
    onExit: () => onExit(),
  })
  return {
    send: (order) => sendToChild(child, order),
    kill: () => child.kill('SIGKILL'),
    end: async (order, withinMs) => {
      sendToChild(child, order)
      const cut = setTimeout(() => child.kill('SIGKILL'), withinMs)
      await child.exited
      clearTimeout(cut)
    },
  }
}

export const jsonInput = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
