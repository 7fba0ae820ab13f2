// The HTTP part of the floor: a plain Bun.serve that parses a JSON body and answers with JSON of an attestation's size,
// without framework, schema, key, policy or signature. Ends with its parent.

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const body = (await request.json()) as { readonly to: string; readonly from: string }
    return Response.json({
      policy_id: 'policy_0000000000000000',
      policy_name: 'Floor',
      verification_hash: 'x-00000000000000000000000000000000',
      is_compliant: true,
      attestation: {
        uuid: '00000000-0000-4000-8000-000000000000',
        expiration: 1_700_000_000,
        attester: body.from,
        signature: `0x${'00'.repeat(65)}`,
      },
    })
  },
})

process.on('disconnect', () => process.exit(0))
process.send?.({ port: server.port })
