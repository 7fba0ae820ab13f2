// Looks the client's address up in the geography file; without a file there is no answer.
import type { OpenAsker } from '../../../facts/asker.ts'
import type { GeographyFacts } from './rules.ts'

export const askGeography: OpenAsker<GeographyFacts> = ({ geography }) => ({
  ask: ({ request }) => geography?.lookup(request.userIp) ?? null,
})
