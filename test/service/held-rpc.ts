// A chain's RPC that answers nothing until it is let go, so that a request stays under way for as long as a test wants.

export interface HeldRpc {
  readonly url: string
  /** Resolves once it was asked. */
  readonly asked: Promise<void>
  /** It answers from now on: block 16 to whatever it is asked. */
  letGo(): void
  stop(): Promise<void>
}

export const startHeldRpc = (): HeldRpc => {
  const asked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { id } = (await request.json()) as { id: number }
      asked.resolve()
      await release.promise
      return Response.json({ jsonrpc: '2.0', id, result: '0x10' })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked: asked.promise,
    letGo: release.resolve,
    stop: () => server.stop(true),
  }
}
