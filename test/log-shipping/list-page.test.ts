// List requests to buckets, compared with those of Bun's S3 client.
import { expect, test } from 'bun:test'
import { listPage, sign } from '../../src/object-store/list-page.ts'

const PREFIX = "prod/it's (a) *"
const TOKEN = 'x/y+='

test.each([null, 'a/session+token='])(
  'the request equals the request of Bun (session token %p)',
  async (sessionToken) => {
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
      const session = sessionToken === null ? {} : { sessionToken }
      const keys = { accessKeyId, secretAccessKey, ...session }
      const client = new Bun.S3Client({ bucket: 'copies', region, endpoint, ...keys, virtualHostedStyle: false })
      await client.list({ prefix: PREFIX, continuationToken: TOKEN })
      const request = { url: `${endpoint}/copies/`, prefix: PREFIX, continuationToken: TOKEN, timeoutMs: 10_000 }
      expect(await listPage(request, access)).toEqual({ objects: [], continuationToken: undefined })
    } finally {
      await server.stop(true)
    }
    const [theirs, ours] = requests
    expect(ours?.url).toBe(theirs?.url ?? '')
    expect(ours?.headers.get('accept-encoding')).toBe('identity')
    const date = theirs?.headers.get('x-amz-date')?.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z')
    const { authorization } = sign(new URL(theirs?.url ?? ''), access, new Date(date ?? ''))
    expect(authorization).toBe(theirs?.headers.get('authorization') ?? '')
  },
)
