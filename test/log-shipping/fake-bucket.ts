// An S3 server in memory, on a free loopback port, with the operations that shipping uses, and with faults.
import { createHash } from 'node:crypto'

export type FakeBucket = ReturnType<typeof startFakeBucket>

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')
const PAGE = 3
const withoutEnd = (): ReadableStream<Uint8Array> =>
  new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })

export const startFakeBucket = (bucket: string) => {
  const objects = new Map<string, Buffer>()
  const etags = new WeakMap<Buffer, string>()
  const uploads = new Map<string, Map<number, Buffer>>()
  /** `METHOD name` of each request. */
  const requests: string[] = []
  const state = {
    /** Status of every response, unless it is null. */
    failure: null as number | null,
    /** Number of spaces after each object, which its headers include, but the list does not. */
    surplus: 0,
    /** Flips a bit of each stored object. */
    corrupts: false,
    /** Sends an endless page of a list. */
    floods: false,
    /** Sends endless objects, and lists with the same continuation token on each page. */
    endless: false,
    /** Sends empty pages with new continuation tokens after the last object. */
    wanders: false,
    /** Lists all objects, regardless of the prefix. */
    ignoresPrefix: false,
  }

  const store = (key: string, bytes: Buffer, etag: string): void => {
    if (state.corrupts && bytes.length > 0) bytes[0] = (bytes[0] as number) ^ 1
    objects.set(key, bytes)
    etags.set(bytes, etag)
  }

  const list = (query: URLSearchParams): Response => {
    const after = query.get('continuation-token') ?? ''
    const prefix = state.ignoresPrefix ? '' : (query.get('prefix') ?? '')
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, PAGE)
    const more = keys.length > PAGE || state.endless || state.wanders
    const contents = page.map(
      (key) =>
        `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;x&quot;</ETag><Size>${objects.get(key)?.length}</Size></Contents>`,
    )
    const token = state.endless ? 'again' : (page.at(-1) ?? `~${requests.length}`)
    const next = more ? `<NextContinuationToken>${token}</NextContinuationToken>` : ''
    const head = `<Name>${bucket}</Name><KeyCount>${page.length}</KeyCount><IsTruncated>${more}</IsTruncated>`
    const open =
      '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    return new Response(`${open}${head}${next}${contents.join('')}</ListBucketResult>`)
  }

  const answer = (
    method: string,
    key: string,
    query: URLSearchParams,
    body: Buffer,
    range: string | null,
  ): Response => {
    const uploadId = query.get('uploadId')
    if (method === 'GET' && query.has('list-type')) return state.floods ? new Response(withoutEnd()) : list(query)
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload-${uploads.size}`
      uploads.set(id, new Map())
      return new Response(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
    }
    if (method === 'PUT' && uploadId !== null) {
      uploads.get(uploadId)?.set(Number(query.get('partNumber')), body)
      return new Response(null, { headers: { etag: `"${md5(body)}"` } })
    }
    if (method === 'POST' && uploadId !== null) {
      const parts = [...(uploads.get(uploadId) ?? [])].sort(([left], [right]) => left - right)
      store(key, Buffer.concat(parts.map(([, bytes]) => bytes)), `"several-${parts.length}"`)
      return new Response('<CompleteMultipartUploadResult><ETag>"several"</ETag></CompleteMultipartUploadResult>')
    }
    if (method === 'PUT') {
      store(key, body, `"${md5(body)}"`)
      if (state.corrupts) etags.set(body, `"${md5(body)}"`)
      return new Response(null, { headers: { etag: etags.get(body) ?? '' } })
    }
    const found = objects.get(key)
    if (found === undefined) return new Response('<Error><Code>NoSuchKey</Code></Error>', { status: 404 })
    if (method === 'DELETE') {
      objects.delete(key)
      return new Response(null, { status: 204 })
    }
    const headers = { etag: etags.get(found) ?? `"${md5(found)}"`, 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' }
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
    if (first !== undefined && !state.endless) {
      const part = found.subarray(Number(first), Number(last) + 1)
      if (part.length > 0) return new Response(part, { status: 206, headers })
      return new Response('<Error><Code>InvalidRange</Code></Error>', { status: 416 })
    }
    const length = { 'content-length': String(found.length + state.surplus) }
    if (method === 'HEAD') return new Response(null, { headers: { ...headers, ...length } })
    const content = state.endless ? withoutEnd() : Buffer.concat([found, Buffer.alloc(state.surplus, ' ')])
    return new Response(content, { headers })
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { pathname, searchParams } = new URL(request.url)
      const key = decodeURIComponent(pathname).slice(bucket.length + 2)
      requests.push(`${request.method} ${key}`)
      const body = Buffer.from(await request.arrayBuffer())
      if (state.failure !== null) return new Response('<Error><Code>Slow</Code></Error>', { status: state.failure })
      return answer(request.method, key, searchParams, body, request.headers.get('range'))
    },
  })
  const endpoint = `http://127.0.0.1:${server.port}`
  return Object.assign(state, { endpoint, objects, requests, stop: (): Promise<void> => server.stop(true) })
}
