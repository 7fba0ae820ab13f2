// Screening processes, with a time limit and without secrets: list files, wallets, the index, and comparisons.

import { startBackgroundChild } from '../../../cluster/background-child.ts'
import { SubjectsFailedError } from '../../../identity/checks/checks.ts'
import { createFairSlots } from '../../../lib/fair-slots.ts'
import { NamedError } from '../../../lib/named-error.ts'
import { ownProcess } from '../../../program/entries.ts'
import type { listedWallets, PackedEntries } from '../formats/entry-lines.ts'
import type { ScreeningFormat } from '../formats/publishers.ts'
import type { ListExpectations } from '../formats/read-screening-list.ts'
import type { ScreenedSubject } from '../matching/entry.ts'
import type { ScreeningAnswer } from '../matching/screen-subject.ts'
import {
  decodePieces,
  encodePieces,
  type FilesRead,
  type PackedList,
  type ScreeningQuestion,
  type ScreeningReply,
  type ScreeningTask,
} from '../worker/screening-protocol.ts'

class ScreeningProcessError extends NamedError {}

class ScreeningEndedError extends SubjectsFailedError {}

export interface NameScreener {
  /** Concurrent calls take turns. @throws ScreeningProcessError, ScreeningEndedError */
  screen(subjects: readonly ScreenedSubject[], threshold: number): Promise<readonly ScreeningAnswer[]>
  hasEnded(): boolean
  close(): Promise<void>
}

export interface ListFilesReading {
  readonly packed: PackedEntries | null
  readonly refusal: FilesRead['refusal']
}

export interface ScreeningProcesses {
  readFiles(
    files: readonly Uint8Array[],
    format: ScreeningFormat,
    expected: ListExpectations,
  ): Promise<ListFilesReading>
  readWallets(packed: Uint8Array): Promise<ReturnType<typeof listedWallets>>
  /** Resolves when ready. @throws ScreeningProcessError */
  startNameScreener(lists: readonly PackedList[]): Promise<NameScreener>
}

const READING_TIME_LIMIT_MS = 300_000
const START_TIME_LIMIT_MS = 60_000
const QUESTION_SUBJECTS = 8
/** Limit per subject: many times the cost of the most expensive name. */
const SUBJECT_TIME_LIMIT_MS = 10_000

const perform = async (task: ScreeningTask, pieces: readonly Uint8Array[]): Promise<Uint8Array> => {
  const program = ownProcess('src/modules/screening/worker/screening-task.process.ts')
  const child = Bun.spawn([...program.words], {
    stdin: encodePieces(task, pieces),
    stdout: 'pipe',
    stderr: 'ignore',
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...program.environment },
    timeout: READING_TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  const output = await new Response(child.stdout).bytes()
  if ((await child.exited) !== 0) throw new ScreeningProcessError('a screening process exited early')
  return output
}

const startNameScreener = async (image: Uint8Array): Promise<NameScreener> => {
  let answer: (answers: readonly ScreeningAnswer[] | null) => void = () => undefined
  const ready = Promise.withResolvers<boolean>()
  const exited = Promise.withResolvers<void>()
  let ended = false
  const child = startBackgroundChild<ScreeningReply, ScreeningQuestion>({
    commandLine: ['src/modules/screening/worker/screening.process.ts'],
    isSmall: true,
    input: image,
    onMessage: (message) => {
      if (message.type === 'ready') ready.resolve(true)
      else answer(message.answers)
    },
    onExit: () => {
      ended = true
      exited.resolve()
      ready.resolve(false)
      answer(null)
    },
  })
  const killAfter = (limitMs: number): (() => void) => {
    const timer = setTimeout(child.kill, limitMs)
    timer.unref()
    return () => clearTimeout(timer)
  }
  const started = killAfter(START_TIME_LIMIT_MS)
  const isReady = await ready.promise
  started()
  if (!isReady) throw new ScreeningProcessError('the screening process did not start')
  const ask = async (subjects: readonly ScreenedSubject[], threshold: number): Promise<readonly ScreeningAnswer[]> => {
    if (ended) throw new ScreeningProcessError('the screening process has exited')
    const answered = killAfter(SUBJECT_TIME_LIMIT_MS * subjects.length)
    const answers = await new Promise<readonly ScreeningAnswer[] | null>((resolve) => {
      answer = resolve
      child.send({ subjects, threshold })
    })
    answered()
    if (answers === null) throw new ScreeningEndedError('the screening process exited before it responded')
    return answers
  }
  /** Each request's time limit starts with its turn. */
  const turns = createFairSlots(1, Number.POSITIVE_INFINITY)
  return {
    screen: async (subjects, threshold) => {
      const answers: ScreeningAnswer[] = []
      for (let at = 0; at < subjects.length; at += QUESTION_SUBJECTS) {
        const release = await turns.acquire('')
        try {
          answers.push(...(await ask(subjects.slice(at, at + QUESTION_SUBJECTS), threshold)))
        } finally {
          release?.()
        }
      }
      return answers
    },
    hasEnded: () => ended,
    close: async () => {
      child.kill()
      await exited.promise
    },
  }
}

export const screeningProcesses: ScreeningProcesses = {
  readFiles: async (files, format, expected) => {
    const { head, pieces } = decodePieces<FilesRead>(await perform({ task: 'read', format, expected }, files))
    const [bytes = new Uint8Array()] = pieces
    return { refusal: head.refusal, packed: head.packed === null ? null : { ...head.packed, bytes: bytes.slice() } }
  },
  readWallets: async (packed) => JSON.parse(new TextDecoder().decode(await perform({ task: 'wallets' }, [packed]))),
  startNameScreener: async (lists) => {
    const task = { task: 'index', lists: lists.map(({ list }) => list) } as const
    return startNameScreener(
      await perform(
        task,
        lists.map(({ bytes }) => bytes),
      ),
    )
  },
}
