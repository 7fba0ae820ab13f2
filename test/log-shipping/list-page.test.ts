// A list request has the address and the signature of one that the runtime's own client makes.
import { expect, test } from 'bun:test'
import { listPage, sign } from '../../src/object-store/list-page.ts'

const PREFIX = "prod/it's (a) *"
const TOKEN = 'x/y+='

test.each([null, 'a/session+token='])('is the runtime’s own (session token %p)', async (sessionToken) => {
  const requests: { readonly url: string; readonly headers: Headers }[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url, headers }) => {
      requests.push({ url, headers: new Headers(headers) })
      return new Response('<ListBucketResult/>')
    },
  })
  const endpoint = `http://127.0.0.1:${server.port}`
  const access = { region: 'eu-central-1', accessKeyId: 'AKID', secretAccessKey: 'not-a-real-secret', sessionToken }
  try {
    const { region, accessKeyId, secretAccessKey } = access
    const client = new Bun.S3Client({
      bucket: 'copies',
      region,
      endpoint,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === null ? {} : { sessionToken }),
      virtualHostedStyle: false,
    })
    await client.list({ prefix: PREFIX, continuationToken: TOKEN })
    const request = { url: `${endpoint}/copies/`, prefix: PREFIX, continuationToken: TOKEN, timeoutMs: 10_000 }
    expect(await listPage(request, access)).toEqual({ objects: [], continuationToken: undefined })
  } finally {
    await server.stop(true)
  }
  const [theirs, ours] = requests.map(({ url, headers }) => ({
    url,
    header: (name: string) => headers.get(name) ?? '',
  }))
  expect(ours?.url).toBe(theirs?.url ?? '')
  expect(ours?.header('accept-encoding')).toBe('identity')
  const date = theirs?.header('x-amz-date').replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z') ?? ''
  const { authorization } = sign(new URL(theirs?.url ?? ''), access, new Date(date))
  expect(authorization).toBe(theirs?.header('authorization') ?? '')
})
