// Interface B on Elysia. Bodies and parameters are read and decoded by the endpoints themselves: decoded once, strictly.
import { Elysia } from 'elysia'
import type { IdentityEndpoints } from './endpoints.ts'
import type { ProviderEndpoints } from './webhooks/provider-endpoints.ts'

/** Path as the router matches it → its method, for the table of what answers what. */
export const IDENTITY_METHODS = {
  '/api/v1/register/individual': 'POST',
  '/api/v1/register/business': 'POST',
  '/api/v1/status/:type/:sessionId': 'GET',
  '/api/v1/status/realtime/:type/:sessionId': 'GET',
  '/api/v1/verify': 'POST',
  '/api/v1/provider/:endpointId/sessions/:sessionId/result': 'POST',
  '/api/v1/provider/:endpointId/sessions/:sessionId/evidence': 'POST',
} as const

export const identityRoutes = (endpoints: IdentityEndpoints & ProviderEndpoints) =>
  new Elysia({ name: 'identity' })
    .post('/api/v1/register/individual', ({ request }) => endpoints.registerIndividual(request), { parse: 'none' })
    .post('/api/v1/register/business', ({ request }) => endpoints.registerBusiness(request), { parse: 'none' })
    .get('/api/v1/status/:type/:sessionId', ({ request }) => endpoints.status(request))
    .get('/api/v1/status/realtime/:type/:sessionId', async ({ request, server }) => {
      const response = await endpoints.stream(request)
      // A stream is quiet for as long as nothing changes: no idle timeout may end it.
      if (response.status === 200) server?.timeout(request, 0)
      return response
    })
    .post('/api/v1/verify', ({ request }) => endpoints.verify(request), { parse: 'none' })
    .post(
      '/api/v1/provider/:endpointId/sessions/:sessionId/result',
      ({ request }) => endpoints.providerResult(request),
      { parse: 'none' },
    )
    .post(
      '/api/v1/provider/:endpointId/sessions/:sessionId/evidence',
      ({ request }) => endpoints.providerEvidence(request),
      { parse: 'none' },
    )
