// Downloads of unlimited length, produced as the client reads. Each part requires the caller's rights. An error aborts
// the connection, so that the file is visibly incomplete.
import { fixedError } from '../domain/errors.ts'
import { createCountedSlots } from '../lib/counted-slots.ts'
import { createPacedTurns } from '../lib/paced-turns.ts'
import { systemClock, systemTimers, type Timers } from '../lib/time.ts'
import { type Actor, actorId } from './actor.ts'
import { SignInRequiredError } from './errors.ts'
import type { Call } from './route.ts'

class DownloadsBusyError extends fixedError(
  'OVERLOADED',
  'too many downloads are running; try again when a download has finished',
  { retryAfterSeconds: 5 },
) {}

export interface DownloadCall extends Pick<Call<never, never, never, never>, 'stillAllowed' | 'requestId'> {
  readonly actor: Actor
  readonly organization: { readonly id: string } | null
}

interface Download {
  readonly filename: string
  readonly contentType: string
  readonly parts: AsyncGenerator<string, void>
}

export interface Downloads {
  /** @throws DownloadsBusyError */
  respond(call: DownloadCall, download: Download): Response
}

/** Maximum per organization: an unread download holds megabytes in the buffers of its socket. */
const PER_ORGANIZATION_MAX = 4
const PER_ACTOR_MAX = 2
/**
 * Longest time without reading. The next part is requested after the client has accepted the buffered megabytes: about
 * 25 KB per second.
 */
const UNREAD_MAX_MS = 120_000

export const createDownloads = (after: Timers['after'] = systemTimers.after): Downloads => {
  const slots = createCountedSlots()
  const inTurn = createPacedTurns(() => new DownloadsBusyError(), systemClock, after)
  return {
    respond: ({ actor, organization, stillAllowed, requestId }, { filename, contentType, parts }) => {
      const owner = organization?.id ?? ''
      const release = slots.acquire([
        { key: `of ${owner}`, maximum: PER_ORGANIZATION_MAX },
        { key: `by ${actorId(actor)}`, maximum: PER_ACTOR_MAX },
      ])
      if (release === null) throw new DownloadsBusyError()
      const encoder = new TextEncoder()
      let isOpen = true
      let stopTimer = (): void => undefined
      const end = (): void => {
        if (!isOpen) return
        isOpen = false
        stopTimer()
        release()
      }
      const awaitReader = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        stopTimer = after(UNREAD_MAX_MS, () => {
          end()
          // Passes no reason, because the runtime would print it, with source code, to standard error.
          controller.error()
        })
      }
      const body = new ReadableStream<Uint8Array>(
        {
          start: awaitReader,
          pull: async (controller) => {
            stopTimer()
            try {
              if (!(await stillAllowed())) throw new SignInRequiredError()
              const { done, value } = await inTurn(owner, () => parts.next())
              if (!isOpen) return
              // If no chunk is enqueued, the stream isn't pulled again.
              if (done !== true) controller.enqueue(encoder.encode(value))
              else controller.close()
              if (done === true) end()
              else awaitReader(controller)
            } catch (error) {
              end()
              throw error
            }
          },
          cancel: async () => {
            end()
            await parts.return(undefined)
          },
        },
        { highWaterMark: 0 },
      )
      return new Response(body, {
        headers: {
          'content-type': contentType,
          'content-disposition': `attachment; filename="${filename}"`,
          'cache-control': 'no-store',
          'x-request-id': requestId,
        },
      })
    },
  }
}
