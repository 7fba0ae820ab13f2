// Lists a bucket with limits on time and size, which Bun's S3 client lacks. Sources:
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html,
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html (Signature Version 4).
import { createHash, createHmac } from 'node:crypto'
import { fetchBounded } from '../lib/bounded-fetch.ts'
import { createXmlScanner } from '../lib/xml-scanner.ts'

export interface SigningAccess {
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | null
}

export interface ListedPage {
  readonly objects: readonly { readonly key: string; readonly bytes: number }[]
  /** Undefined on the last page. */
  readonly continuationToken: string | undefined
}

export interface ListPageRequest {
  /** Path-style URL of the bucket, with a trailing slash. */
  readonly url: string
  readonly prefix: string
  readonly continuationToken: string | undefined
  readonly timeoutMs: number
}

/** Maximum size of a page: at most 1,000 keys of 1,024 bytes, possibly escaped. */
const PAGE_BYTES_MAX = 8_388_608

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Returns the headers for a GET request without a body. */
export const sign = (url: URL, { region, accessKeyId, secretAccessKey, sessionToken }: SigningAccess, now: Date) => {
  const time = now.toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const headers: Readonly<Record<string, string>> = {
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    'x-amz-date': time,
    ...(sessionToken === null ? {} : { 'x-amz-security-token': sessionToken }),
  }
  const signed = Object.entries({ host: url.host, ...headers })
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    'GET',
    url.pathname,
    url.search.slice(1),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    'UNSIGNED-PAYLOAD',
  ].join('\n')
  const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  const signature = hmac(key, toSign).toString('hex')
  const credential = `Credential=${accessKeyId}/${scope}`
  const authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`
  // A compressed response could expand beyond the limit.
  return { ...headers, authorization, 'accept-encoding': 'identity' }
}

const parsePage = (text: string): ListedPage => {
  const objects: { key: string; bytes: number }[] = []
  const path: string[] = []
  let [key, size, token, truncated] = ['', '', '', '']
  const scanner = createXmlScanner({
    open: (name) => {
      path.push(name)
      if (name === 'Contents') [key, size] = ['', '']
    },
    text: (piece) => {
      const place = path.slice(1).join('/')
      if (place === 'Contents/Key') key += piece
      else if (place === 'Contents/Size') size += piece
      else if (place === 'IsTruncated') truncated += piece
      else if (place === 'NextContinuationToken') token += piece
    },
    close: (name) => {
      path.pop()
      if (name === 'Contents' && path.length === 1)
        objects.push({ key, bytes: Number.isSafeInteger(Number(size)) ? Number(size) : 0 })
    },
  })
  scanner.write(text)
  scanner.end()
  return { objects, continuationToken: truncated === 'true' && token !== '' ? token : undefined }
}

/** Returns only the status unless it is 200. @throws BoundedFetchFailedError, XmlInvalidError */
export const listPage = async (
  { url, prefix, continuationToken, timeoutMs }: ListPageRequest,
  access: SigningAccess,
): Promise<ListedPage | { readonly status: number; readonly objects: null }> => {
  // The signature requires parameters sorted by name.
  const query = [
    ...(continuationToken === undefined ? [] : [`continuation-token=${encode(continuationToken)}`]),
    'list-type=2',
    `prefix=${encode(prefix)}`,
  ]
  const target = new URL(`${url}?${query.join('&')}`)
  const { status, body } = await fetchBounded(target.href, {
    headers: sign(target, access, new Date()),
    timeoutMs,
    maxBytes: PAGE_BYTES_MAX,
  })
  return status === 200 ? parsePage(body.toString('utf8')) : { status, objects: null }
}
