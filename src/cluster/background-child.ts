// Starts a process that works beside the service, and ends it. The process has none of the service's secrets: its
// environment only says where the runtime's own files are, and what it must know comes on standard input.
import { ownProcess } from '../program/entries.ts'
import { sendToChild } from './send.ts'

export interface BackgroundChildOptions<Message> {
  /** Path of the entry from the root of the repository, then its arguments. */
  readonly commandLine: readonly [string, ...string[]]
  readonly input: Uint8Array | null
  readonly onMessage: (message: Message) => void
  readonly onExit: () => void
}

export interface BackgroundChild<Order> {
  send(order: Order): void
  kill(): void
  /** Sends an order that makes the process end, and kills it when it takes longer than `withinMs`. */
  end(order: Order, withinMs: number): Promise<void>
}

/** Its output is discarded, because it may hold anything. */
export const startBackgroundChild = <Message, Order>(
  options: BackgroundChildOptions<Message>,
): BackgroundChild<Order> => {
  const { commandLine, input, onMessage, onExit } = options
  const [entry, ...commandArguments] = commandLine
  const program = ownProcess(entry)
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
    kill: () => child.kill(),
    end: async (order, withinMs) => {
      sendToChild(child, order)
      const cut = setTimeout(() => child.kill('SIGKILL'), withinMs)
      await child.exited
      clearTimeout(cut)
    },
  }
}

/** What a process reads with `Bun.stdin.json()`. */
export const jsonInput = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
