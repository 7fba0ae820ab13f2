// Terms of the policy language. All organizations have the same terms, so they are read once.
import { call } from '../../api/client.ts'
import { type Query, useQuery } from '../../data/use-query.ts'
import type { PolicyWords } from './completion.ts'

export const useWords = (): Query<PolicyWords> =>
  useQuery(async (signal) => {
    const [facts, schema] = await Promise.all([
      call('GET /policy-language', { signal }),
      call('GET /policy-language/schema', { signal }),
    ])
    return { facts, schema }
  }, [])
