// A chain's RPC endpoint that does not respond until it is released, to keep a request in flight.
export type HeldRpc = ReturnType<typeof startHeldRpc>

export const startHeldRpc = () => {
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
    /** Resolves at the first request. */
    asked: asked.promise,
    /** Answers all requests with block 16. */
    letGo: () => release.resolve(),
    stop: () => server.stop(true),
  }
}
