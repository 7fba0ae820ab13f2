// Attacks on the parser in front of the attestation API.
import type { Abuse } from './abuse.ts'
import { exchangeBytes } from './wire.ts'

export const ATTESTATION_ABUSES: readonly Abuse[] = [
  {
    row: 25,
    name: 'two-parsers',
    mustHappen: 'requests that two parsers read differently are refused or closed; a good one right after succeeds',
    run: async (deployment, faults) => {
      const { ports, alpha } = deployment
      const good = { from: `0x${'5'.repeat(40)}`, chain: 'base', verification_hash: alpha.things['verification_hash'] }
      const text = JSON.stringify(good)
      const inner = `POST /v2/attestation HTTP/1.1\r\nhost: a\r\nx-api-key: ${alpha.keys.attestation}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
      const shapes: Readonly<Record<string, string>> = {
        both: `POST /livez HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
        'two lengths': `POST /livez HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\ncontent-length: ${inner.length}\r\n\r\n${inner}`,
        'a space before the colon': `GET /livez HTTP/1.1\r\nhost: a\r\ntransfer-encoding : chunked\r\n\r\n`,
        'a folded line': 'GET /livez HTTP/1.1\r\nhost: a\r\nx: 1\r\n 2\r\n\r\n',
        'bare line feeds': 'GET /livez HTTP/1.1\nhost: a\n\n',
        'a null byte': 'GET /livez\0 HTTP/1.1\r\nhost: a\r\n\r\n',
        'a method that echoes': 'TRACE / HTTP/1.1\r\nhost: a\r\nx-echo: 1\r\n\r\n',
        'no version': 'GET /livez\r\n\r\n',
        'a huge line': `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
        'an HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        'a bad chunk': 'POST /v2/attestation HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      }
      for (const port of Object.values(ports)) {
        for (const [what, sent] of Object.entries(shapes)) {
          const outcome = await exchangeBytes(port, Buffer.from(sent, 'latin1'), { limitMs: 2_000, endsEarly: true })
          if (typeof outcome === 'string') continue
          // A folded line may be read as one line (RFC 9112 §5.2).
          const read = what === 'a folded line' || what === 'bare line feeds'
          if (outcome.status < 400 && !read) faults.add(`${what} at ${port}: ${outcome.status}`)
          if (outcome.status >= 500 && outcome.status !== 505) faults.add(`${what} at ${port}: ${outcome.status}`)
          if (outcome.body.includes('"attestation":{')) faults.add(`${what}: the smuggled request was signed`)
        }
      }
      const answer = await deployment.api('POST', '/v2/attestation', { key: alpha.keys.attestation, body: good })
      faults.status('a good one', answer, 200)
    },
  },
]
