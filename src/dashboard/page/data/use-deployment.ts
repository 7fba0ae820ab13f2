// Properties of the deployment, read once per page load because only a service restart changes them.
import { type AnswerOf, call } from '../api/client.ts'
import { type Query, useQuery } from './use-query.ts'

type Deployment = AnswerOf<'GET /deployment'>

let reading: Promise<Deployment> | null = null

export const readDeployment = (): Promise<Deployment> => {
  reading ??= call('GET /deployment').catch((error: unknown) => {
    reading = null
    throw error
  })
  return reading
}

export const useDeployment = (): Query<Deployment> => useQuery(readDeployment, [])
