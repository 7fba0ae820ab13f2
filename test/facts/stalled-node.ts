// A node that begins to answer and never ends, and one that never stops answering: what a timeout up to the headers, or
// a limit by their content-length, does not see.

export interface StalledNode {
  readonly url: string
  /** Whether the other side has hung up. */
  readonly left: Promise<void>
  stop(): Promise<void>
}

interface Body {
  readonly start?: (controller: ReadableStreamDefaultController<Uint8Array>) => void
  readonly pull?: (controller: ReadableStreamDefaultController<Uint8Array>) => void
}

const startNode = (body: Body): StalledNode => {
  const left = Promise.withResolvers<void>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: () =>
      new Response(new ReadableStream({ ...body, cancel: () => left.resolve() }), {
        headers: { 'content-type': 'application/json' },
      }),
  })
  return { url: `http://127.0.0.1:${server.port}`, left: left.promise, stop: () => server.stop(true) }
}

/** @param first what comes before it stalls */
export const startStalledNode = (first: string): StalledNode =>
  startNode({ start: (controller) => controller.enqueue(new TextEncoder().encode(first)) })

/** Sends spaces for as long as anyone reads. */
export const startFloodingNode = (): StalledNode =>
  startNode({ pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(32)) })
