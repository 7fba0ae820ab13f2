// The processes of screening: one reads a list's files, one its wallet addresses, one indexes the names of all lists (these end
// when they are done), and one stays to screen. None gets a secret; each is killed after a time limit.

import { sendToChild } from '../../../cluster/send.ts'
import { NamedError } from '../../../lib/named-error.ts'
import { ownProcess } from '../../../program/entries.ts'
import type { ScreenedSubject } from '../matching/entry.ts'
import type { ScreeningAnswer } from '../matching/screen-subject.ts'
import {
  decodeReading,
  encodeFiles,
  encodeLists,
  type FilesToRead,
  type ListFilesReading,
  type PackedList,
  type ScreeningQuestion,
  type ScreeningReply,
} from '../worker/screening-protocol.ts'

/** The process ended, or was killed, before it answered. */
class ScreeningProcessError extends NamedError {}

export interface Screener {
  /** @throws ScreeningProcessError */
  screen(subjects: readonly ScreenedSubject[], threshold: number): Promise<readonly ScreeningAnswer[]>
  hasEnded(): boolean
  close(): Promise<void>
}

export interface ScreeningProcesses {
  /** @throws ScreeningProcessError */
  readFiles(files: FilesToRead): Promise<ListFilesReading>
  /** The wallet addresses that packed entries name. @throws ScreeningProcessError */
  readWallets(packed: Uint8Array): Promise<readonly string[]>
  /** Resolves when the screener is ready. @throws ScreeningProcessError */
  startScreener(lists: readonly PackedList[]): Promise<Screener>
}

const READING_TIME_LIMIT_MS = 300_000
const START_TIME_LIMIT_MS = 60_000
const ANSWER_TIME_LIMIT_MS = 60_000

const environment = (): Record<string, string> => ({ PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' })

/** @returns what the process writes to stdout */
const transformed = async (script: string, input: Uint8Array): Promise<Uint8Array> => {
  const program = ownProcess(`src/modules/screening/worker/${script}`)
  const child = Bun.spawn([...program.words], {
    stdin: input,
    stdout: 'pipe',
    stderr: 'ignore',
    env: { ...environment(), ...program.environment },
    timeout: READING_TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  const output = await new Response(child.stdout).bytes()
  if ((await child.exited) !== 0) throw new ScreeningProcessError('a process of screening ended early')
  return output
}

const startScreener = async (image: Uint8Array): Promise<Screener> => {
  const waiting = new Map<number, (answers: readonly ScreeningAnswer[] | null) => void>()
  const ready = Promise.withResolvers<boolean>()
  let number = 0
  let ended = false
  const program = ownProcess('src/modules/screening/worker/screening.process.ts', true)
  const child = Bun.spawn([...program.words], {
    stdin: image,
    stdout: 'ignore',
    stderr: 'ignore',
    env: { ...environment(), ...program.environment },
    serialization: 'json',
    ipc: (message: ScreeningReply) => {
      if (message.type === 'ready') ready.resolve(true)
      else waiting.get(message.number)?.(message.answers)
    },
    onExit: () => {
      ended = true
      ready.resolve(false)
      for (const settle of waiting.values()) settle(null)
    },
  })
  const killAfter = (limitMs: number): (() => void) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
    timer.unref()
    return () => clearTimeout(timer)
  }
  const started = killAfter(START_TIME_LIMIT_MS)
  const isReady = await ready.promise
  started()
  if (!isReady) throw new ScreeningProcessError('the process that screens did not start')
  return {
    screen: async (subjects, threshold) => {
      if (ended) throw new ScreeningProcessError('the process that screens has ended')
      const question: ScreeningQuestion = { number: number++, subjects, threshold }
      const answered = killAfter(ANSWER_TIME_LIMIT_MS)
      const answers = await new Promise<readonly ScreeningAnswer[] | null>((resolve) => {
        waiting.set(question.number, resolve)
        sendToChild(child, question)
      })
      answered()
      waiting.delete(question.number)
      if (answers === null) throw new ScreeningProcessError('the process that screens ended before it answered')
      return answers
    },
    hasEnded: () => ended,
    close: async () => {
      child.kill()
      await child.exited
    },
  }
}

export const screeningProcesses: ScreeningProcesses = {
  readFiles: async (files) => decodeReading(await transformed('screening-list.process.ts', encodeFiles(files))),
  readWallets: async (packed) =>
    JSON.parse(new TextDecoder().decode(await transformed('screening-wallets.process.ts', packed))) as string[],
  startScreener: async (lists) => startScreener(await transformed('screening-image.process.ts', encodeLists(lists))),
}
