// Nodes whose response stalls or never ends. A timeout for headers, or a limit by Content-Length, does not detect them.

export interface StalledNode {
  readonly url: string
  /** Resolves when the client disconnects. */
  readonly left: Promise<void>
  stop(): Promise<void>
}

interface Body {
  readonly start?: (controller: ReadableStreamDefaultController<Uint8Array>) => void
  readonly pull?: (controller: ReadableStreamDefaultController<Uint8Array>) => void
}

const startNode = (body: Body): StalledNode => {
  const disconnected = Promise.withResolvers<void>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: () =>
      new Response(new ReadableStream({ ...body, cancel: () => disconnected.resolve() }), {
        headers: { 'content-type': 'application/json' },
      }),
  })
  return { url: `http://127.0.0.1:${server.port}`, left: disconnected.promise, stop: () => server.stop(true) }
}

/** Starts a node that sends `first` and then stalls. */
export const startStalledNode = (first: string): StalledNode =>
  startNode({ start: (controller) => controller.enqueue(new TextEncoder().encode(first)) })

/** Starts a node that sends spaces until the client disconnects. */
export const startFloodingNode = (): StalledNode =>
  startNode({ pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(32)) })
