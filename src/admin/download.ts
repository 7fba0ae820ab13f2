// Downloads of unlimited length, produced as the client reads. Each part requires the caller's rights. An error cuts
// the connection, so that the file is visibly incomplete.
import { SignInRequiredError } from './errors.ts'
import type { Call } from './route.ts'

interface Download {
  readonly filename: string
  readonly contentType: string
  readonly parts: AsyncGenerator<string, void>
}

export const downloadResponse = (
  { stillAllowed, requestId }: Pick<Call<never, never, never, never>, 'stillAllowed' | 'requestId'>,
  { filename, contentType, parts }: Download,
): Response => {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (!(await stillAllowed())) throw new SignInRequiredError()
        const { done, value } = await parts.next()
        if (done === true) controller.close()
        // Without a chunk, the stream isn't pulled again.
        else controller.enqueue(encoder.encode(value))
      },
      cancel: async () => {
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
}
