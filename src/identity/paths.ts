// Paths of the identity API and of provider messages. Imports nothing, because the client's package includes this file.

export const IDENTITY_PATHS = {
  registerIndividual: { method: 'POST', path: '/api/v1/register/individual' },
  registerBusiness: { method: 'POST', path: '/api/v1/register/business' },
  status: { method: 'GET', path: '/api/v1/status/{type}/{sessionId}' },
  stream: { method: 'GET', path: '/api/v1/status/realtime/{type}/{sessionId}' },
  verify: { method: 'POST', path: '/api/v1/verify' },
  providerResult: { method: 'POST', path: '/api/v1/provider/{endpointId}/sessions/{sessionId}/result' },
  providerEvidence: { method: 'POST', path: '/api/v1/provider/{endpointId}/sessions/{sessionId}/evidence' },
  providerEvent: { method: 'POST', path: '/api/v1/provider/{endpointId}/events' },
} as const
