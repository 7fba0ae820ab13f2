// Elysia plugin of the identity API. The endpoints decode bodies and parameters themselves, once and strictly.
import { Elysia } from 'elysia'
import { routerPath } from '../server/public-route.ts'
import type { IdentityEndpoints } from './endpoints.ts'
import { IDENTITY_PATHS } from './paths.ts'
import type { ProviderEndpoints } from './webhooks/provider-endpoints.ts'

const OWN_BODY = { parse: 'none' } as const

export const identityRoutes = (endpoints: IdentityEndpoints & ProviderEndpoints) => {
  const { providerEvent } = endpoints
  const routes = new Elysia({ name: 'identity' })
    .post(
      routerPath(IDENTITY_PATHS.registerIndividual),
      ({ request, server }) => endpoints.registerIndividual(request, server),
      OWN_BODY,
    )
    .post(
      routerPath(IDENTITY_PATHS.registerBusiness),
      ({ request, server }) => endpoints.registerBusiness(request, server),
      OWN_BODY,
    )
    .get(routerPath(IDENTITY_PATHS.status), ({ request, server }) => endpoints.status(request, server))
    .get(routerPath(IDENTITY_PATHS.stream), async ({ request, server }) => {
      const response = await endpoints.stream(request, server)
      // Streams are silent while nothing changes, so the idle timeout must not end them.
      if (response.status === 200) server?.timeout(request, 0)
      return response
    })
    .post(routerPath(IDENTITY_PATHS.verify), ({ request, server }) => endpoints.verify(request, server), OWN_BODY)
    .post(
      routerPath(IDENTITY_PATHS.providerResult),
      ({ request, server }) => endpoints.providerResult(request, server),
      OWN_BODY,
    )
    .post(
      routerPath(IDENTITY_PATHS.providerEvidence),
      ({ request, server }) => endpoints.providerEvidence(request, server),
      OWN_BODY,
    )
  return providerEvent === null
    ? routes
    : routes.post(
        routerPath(IDENTITY_PATHS.providerEvent),
        ({ request, server }) => providerEvent(request, server),
        OWN_BODY,
      )
}
