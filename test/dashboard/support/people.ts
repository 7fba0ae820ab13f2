// People who verify themselves with the running service, by the requests of the verification page: a wallet, fields,
// documents and the submission.
import { PNG } from 'pngjs'
import type { SessionType } from '../../../src/domain/session.ts'
import { blankPdf } from '../../portal/support/pdf.ts'
import { createVisitor } from '../../portal/support/visitor.ts'
import type { RunningService } from '../../service/start-service.ts'

export interface Document {
  readonly kind: string
  readonly content: Uint8Array
  readonly mediaType: string
  readonly fileName: string
}

interface PersonOptions {
  /** Also determines the wallet. */
  readonly name: string
  readonly type?: SessionType
  readonly documents?: readonly Document[]
  readonly fields?: Readonly<Record<string, unknown>>
}

/** An image with colors of its seed. */
export const picture = (seed: number, width = 600, height = 400): Uint8Array => {
  const png = new PNG({ width, height })
  for (let at = 0; at < png.data.length; at += 4) {
    const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)]
    png.data.set([(x + seed * 60) % 256, (y + seed * 30) % 256, 120, 255], at)
  }
  return PNG.sync.write(png)
}

export const standardDocuments = (content: Uint8Array = picture(1)): readonly Document[] => [
  { kind: 'identity-document', content, mediaType: 'image/png', fileName: 'passport.png' },
  { kind: 'identity-document', content: blankPdf(), mediaType: 'application/pdf', fileName: 'second page.pdf' },
  { kind: 'portrait', content: picture(2, 400, 500), mediaType: 'image/png', fileName: 'portrait.png' },
]

const expectOk = (answer: { readonly status: number; readonly body: unknown }, what: string): void => {
  if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`)
}

/** @param identityKey key of the organization; defaults to that of the quick start */
export const createPeople = (
  service: Pick<RunningService, 'url' | 'quickstart'>,
  identityKey = service.quickstart['IDENTITY_API_KEY'] ?? '',
) => {
  const register = async (type: SessionType) => {
    const response = await fetch(`${service.url}/api/v1/register/${type}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${identityKey}`, 'content-type': 'application/json' },
      body: '{}',
    })
    const { sessionId, redirectUrl } = (await response.json()) as { sessionId: string; redirectUrl: string }
    return { sessionId, link: redirectUrl }
  }

  return {
    register,
    /** Submits a session with all required parts. @returns its id */
    submit: async (options: PersonOptions): Promise<string> => {
      const { type = 'individual', name, documents = standardDocuments() } = options
      const { sessionId, link } = await register(type)
      const person = createVisitor(new URL(link).origin)
      await person.visit(link)
      const path = `sessions/${sessionId}`
      expectOk(await person.agree(sessionId), 'agreement')
      expectOk(await person.connectEvm(sessionId, name), 'wallet')
      const fields = options.fields ?? { fullName: name, birthDate: '1985-12-10', country: 'GB' }
      expectOk(await person.call('PUT', `${path}/fields`, fields), 'fields')
      for (const { kind, content, mediaType, fileName } of documents) {
        const headers = { 'content-type': mediaType, 'x-file-name': encodeURIComponent(fileName) }
        expectOk(await person.call('POST', `${path}/documents/${kind}`, content, headers), fileName)
      }
      expectOk(await person.call('POST', `${path}/submit`, {}), 'submit')
      return sessionId
    },
  }
}

export type People = ReturnType<typeof createPeople>
