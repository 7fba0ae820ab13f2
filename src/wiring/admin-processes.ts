// The processes that the admin API has work done in: the decision index, and one a job. They get no secret: their
// environment is empty but for what finds the runtime's own files.
import type { IndexReply } from '../../workers/decision-index-protocol.ts'
import { encodeJobInput, type JobInput } from '../../workers/job-input.ts'
import type { JobMessage } from '../../workers/job-protocol.ts'
import type { SharedIndexInput } from '../../workers/shared-index-input.ts'
import type { IndexProcess, IndexProcessListener } from '../admin/decisions/index-process.ts'
import type { IndexRole } from '../admin/decisions/search.ts'
import type { JobListener, JobProcess } from '../admin/jobs.ts'
import { sendToChild } from '../processes/send.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import type { Job } from '../store/jobs.ts'

const environment = (): Record<string, string> => ({ PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' })

const entry = (name: string): string => Bun.fileURLToPath(new URL(`../../workers/${name}`, import.meta.url))

interface ChildOptions<Message> {
  readonly commandLine: readonly string[]
  readonly input: Uint8Array | null
  readonly onMessage: (message: Message) => void
  readonly onExit: () => void
}

/** Starts a child that talks over a channel; what it prints is nobody's: it may hold anything. */
const spawn = <Message>({ commandLine, input, onMessage, onExit }: ChildOptions<Message>) =>
  Bun.spawn([process.execPath, ...commandLine], {
    env: environment(),
    stdin: input ?? 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    serialization: 'json',
    ipc: (message: Message) => onMessage(message),
    onExit: () => onExit(),
  })

const INDEX_ENTRIES: Readonly<Record<IndexRole, string>> = {
  build: 'decision-index.process.ts',
  find: 'decision-search.process.ts',
}

const SHARED_INDEX_ENTRIES: Readonly<Record<IndexRole, string>> = {
  build: 'shared-index.process.ts',
  find: 'shared-search.process.ts',
}

export const spawnIndexProcess =
  (folder: Pick<DataFolder, 'decisions' | 'decisionIndex'>, shared: SharedIndexInput | null = null) =>
  (role: IndexRole, { onReply, onExit }: IndexProcessListener): IndexProcess => {
    const child = spawn<IndexReply>({
      commandLine: [
        entry((shared === null ? INDEX_ENTRIES : SHARED_INDEX_ENTRIES)[role]),
        ...[folder.decisions, folder.decisionIndex],
      ],
      input: shared === null ? null : new TextEncoder().encode(JSON.stringify(shared)),
      onMessage: onReply,
      onExit,
    })
    return { send: (question) => sendToChild(child, question), kill: () => child.kill() }
  }

export interface JobSpawning {
  /** Everything that its process has to know. */
  readonly prepare: (job: Job) => Promise<JobInput>
  readonly onFailed: (job: Job, errorClass: string) => void
}

export const spawnJobProcess =
  ({ prepare, onFailed }: JobSpawning) =>
  (job: Job, listener: JobListener): JobProcess => {
    let child: { kill(): void } | null = null
    let killed = false

    const start = (input: JobInput): void => {
      if (killed) {
        listener.onExit()
        return
      }
      child = spawn<JobMessage>({
        commandLine: [entry('job.process.ts')],
        input: encodeJobInput(input),
        onMessage: (message) => {
          if (message.type === 'progress') listener.onProgress(message.done, message.total)
          else if (message.type === 'done') listener.onDone(message.result)
          else {
            onFailed(job, message.errorClass)
            listener.onFailed(message.failure)
          }
        },
        onExit: listener.onExit,
      })
    }
    prepare(job)
      .then(start)
      .catch((error: unknown) => {
        onFailed(job, error instanceof Error ? error.name : typeof error)
        listener.onFailed('the job could not be started')
        listener.onExit()
      })
    return {
      kill: () => {
        killed = true
        child?.kill()
      },
    }
  }
