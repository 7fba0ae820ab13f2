import type { GeographyFacts } from '../../policy/sources/geography.ts'
import type { OpenFactFetcher } from '../fact-fetcher.ts'

export const askGeography: OpenFactFetcher<GeographyFacts> = ({ geography }) => ({
  ask: ({ request }) => geography?.lookup(request.userIp) ?? null,
})
