// Attacks with uploads: documents that are slow to check, withheld bytes, and bodies in tiny chunks.
import { blankPdf } from '../portal/support/pdf.ts'
import type { Abuse } from './abuse.ts'
import type { Deployment, Tenant } from './deployment.ts'

const DOCUMENT_BYTES = 10 * 1024 * 1024
/** Far below the duration of each of these attacks, and above the pauses of a busy machine. */
const PAUSE_MAX_MS = 1_000

const upload = (
  { urls }: Deployment,
  { sessionId, cookie }: Tenant['portal'],
  body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>,
  { from, kind = 'identity-document', signal }: { from: string; kind?: string; signal?: AbortSignal },
): Promise<number> =>
  fetch(`${urls.portal}/api/sessions/${sessionId}/documents/${kind}`, {
    method: 'POST',
    headers: {
      cookie,
      origin: urls.portal,
      'sec-fetch-site': 'same-origin',
      'x-forwarded-for': from,
      'content-type': 'application/pdf',
    },
    body,
    ...(signal === undefined ? {} : { signal }),
  }).then(
    async (response) => {
      await response.arrayBuffer()
      return response.status
    },
    () => 0,
  )

/** Opens sessions that request documents. */
const openSessions = async (deployment: Deployment, { slug, keys }: Tenant, count: number) => {
  const level = (name: string) =>
    deployment.must('PATCH', `/organizations/${slug}`, { key: keys.admin, body: { level: name } })
  await level('enhanced')
  try {
    return await Promise.all(Array.from({ length: count }, () => deployment.openSession(keys.identity)))
  } finally {
    await level('basic')
  }
}

/** Returns the longest response time of other requests during `under`. */
const longestPause = async ({ urls }: Deployment, under: Promise<unknown>): Promise<number> => {
  let ended = false
  let longest = 0
  const watched = under.finally(() => {
    ended = true
  })
  while (!ended) {
    const startedMs = performance.now()
    await (await fetch(`${urls.api}/health`)).arrayBuffer()
    longest = Math.max(longest, performance.now() - startedMs)
  }
  await watched
  return longest
}

const filled = (words: string, rest: string): Buffer => {
  const end = Buffer.from('\nstartxref\n0\n%%EOF\n')
  const start = Buffer.from(`%PDF-1.4\n${words}`)
  return Buffer.concat([start, Buffer.alloc(DOCUMENT_BYTES - start.length - end.length, rest), end])
}

/** A body that never ends. */
const withheld = (): ReadableStream<Uint8Array> =>
  new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('%PDF-1.4\n')) })

export const UPLOAD_ABUSES: readonly Abuse[] = [
  {
    row: 18,
    name: 'documents-that-stop-signing',
    mustHappen: 'other requests are answered while hostile documents are checked',
    run: async (deployment, faults) => {
      const [portal] = await openSessions(deployment, deployment.alpha, 1)
      for (const [name, document] of [
        ['texts inside texts', filled('stream'.repeat(300), 'z')],
        ['hexadecimal text', filled('stream\n'.repeat(300), '0')],
        ['escapes', filled('', '#')],
        ['fill bytes', Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(DOCUMENT_BYTES - 2, 0xff)])],
      ] as const) {
        const pause = await longestPause(
          deployment,
          upload(deployment, portal!, Uint8Array.from(document), { from: '203.0.113.1' }),
        )
        faults.holds(`${name}: a pause of ${Math.round(pause)} ms`, pause < PAUSE_MAX_MS)
      }
      const status = await upload(deployment, portal!, Uint8Array.from(blankPdf()), { from: '203.0.113.1' })
      faults.holds(`a harmless document: ${status}`, status === 200)
    },
  },
  {
    row: 25,
    name: 'slow-uploads',
    mustHappen: 'senders that withhold bytes do not block another tenant’s documents',
    run: async (deployment, faults) => {
      const { alpha, beta } = deployment
      const end = new AbortController()
      const sessions = await openSessions(deployment, alpha, 12)
      const slow = sessions.flatMap((portal, index) =>
        [0, 1].map(() =>
          upload(deployment, portal, withheld(), { from: `203.0.113.${1 + (index % 4)}`, signal: end.signal }),
        ),
      )
      // Uploads above the organization's limit are answered; by then, the others are in progress.
      await Promise.race(slow)
      const [other] = await openSessions(deployment, beta, 1)
      const status = await upload(deployment, other!, Uint8Array.from(blankPdf()), { from: '203.0.113.200' })
      faults.holds(`the other tenant’s document: ${status}`, status === 200)
      end.abort()
      await Promise.all(slow)
    },
  },
]
