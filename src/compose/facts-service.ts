// Builds the fact sources: lists for workers; geography, screeners and chains for requests.

import { BLOCK_TIME_MS, BLOCK_TIME_MS_DEFAULT } from '../attestation/expiry.ts'
import { type Lead, whileLeading } from '../cluster/leader.ts'
import type { Config } from '../config/config.ts'
import type { ChainReads, ChainReadsDependencies, ReadableChain } from '../facts/chain-reads.ts'
import { createFactCollector } from '../facts/collect.ts'
import type { FactFetcher, FetchContext } from '../facts/fact-fetcher.ts'
import { failureReason } from '../facts/failure-reason.ts'
import { createGeography, type Geography } from '../facts/geography.ts'
import { createListRefresher, type ListRefresher, type RefreshResult } from '../facts/lists/refresh-list.ts'
import { createServedLists, sumLists } from '../facts/lists/serve-lists.ts'
import { createScreener } from '../facts/screener.ts'
import { SOURCE_OPENERS } from '../facts/sources/openers.ts'
import { type Clock, isoTime } from '../lib/time.ts'
import { FACT_SOURCES, type SourceKind } from '../policy/sources/all.ts'
import type { Pool } from '../pool/pool.ts'
import type { Change } from '../store/changes.ts'
import type { Store } from '../store/store.ts'
import type { FactMetrics } from '../telemetry/fact-metrics.ts'
import type { Logger } from '../telemetry/log.ts'

interface FactsDependencies extends Pick<FetchContext, 'identityOf' | 'identityDetailsOf' | 'identityChanges'> {
  readonly config: Pick<Config, 'geoipFile' | 'screeners' | 'chains' | 'chainSettings'>
  readonly store: Pick<Store, 'lists' | 'listBases' | 'listSources'>
  readonly pool: Pick<Pool, 'updateLists'>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Logger
}

const RPC_TIMEOUT_MS = 3_000

const readableChains = ({ chains, chainSettings }: FactsDependencies['config']): ReadableChain[] =>
  chains.chains.flatMap((chain) => {
    const settings = chainSettings.get(chain.name)
    if (chain.family !== 'evm' || settings?.rpcUrls === undefined) return []
    const blockTimeMs = settings.blockTimeMs ?? BLOCK_TIME_MS[chain.name] ?? BLOCK_TIME_MS_DEFAULT
    return [{ name: chain.name, chainId: chain.chainId, rpcUrls: settings.rpcUrls, blockTimeMs }]
  })

const openGeography = ({ config, clock, log }: FactsDependencies): Geography | null =>
  config.geoipFile === ''
    ? null
    : createGeography({
        path: config.geoipFile,
        clock,
        onLoaded: ({ databaseType, builtAtSeconds }) => {
          log.info('geography file read', { databaseType, builtAt: isoTime(builtAtSeconds) })
        },
        onError: (error) => log.error('the geography file could not be read', { path: config.geoipFile, error }),
      })

/** Loads viem, which takes 10 MB of memory, only if there are readable chains. */
const openReads = async (dependencies: ChainReadsDependencies): Promise<ChainReads> => {
  if (dependencies.chains.length === 0) return { read: () => null, counts: () => new Map() }
  const { createChainReads } = await import('../facts/chain-reads.ts')
  return createChainReads(dependencies)
}

const openFetchers = async (context: FetchContext): Promise<ReadonlyMap<SourceKind, FactFetcher<unknown>>> =>
  new Map(
    await Promise.all(FACT_SOURCES.map(async ({ kind }) => [kind, (await SOURCE_OPENERS[kind]())(context)] as const)),
  )

export const createFacts = async (dependencies: FactsDependencies) => {
  const { config, store, pool, identityOf, identityDetailsOf, identityChanges, environment, clock, log } = dependencies
  const geography = openGeography(dependencies)
  const screeners = new Map(
    [...config.screeners].map(([name, settings]) => [
      name,
      createScreener(settings, {
        clock,
        environment,
        onError: (error) =>
          log.warn('a screener returned no valid response', { screener: name, reason: failureReason(error), error }),
      }),
    ]),
  )
  const onChain = {
    chains: readableChains(config),
    timeoutMs: RPC_TIMEOUT_MS,
    clock,
    onError: (error: unknown, chain: string, url: string | null) => {
      // Log only the host, because paths and queries of RPC URLs contain keys.
      const host = url === null ? null : new URL(url).host
      log.warn('a chain could not be read', { chain, host, reason: failureReason(error), error })
    },
  }
  const reads = await openReads({ ...onChain, chainName: (name) => config.chains.byName(name)?.name })
  const fetchers = await openFetchers({ ...onChain, geography, identityOf, identityDetailsOf, identityChanges })
  const served = createServedLists({
    lists: store.lists,
    bases: store.listBases,
    publish: pool.updateLists,
    clock,
    onError: (error) => log.warn('a list could not be read; will retry', { error }),
  })
  const loads = { loaded: 0, confirmed: 0, failed: 0 }
  const report = (result: RefreshResult): void => {
    loads[result.status] += 1
    const { listId } = result
    if (result.status === 'failed')
      log.error('the source of a list could not be read', { listId, failure: result.failure })
    else log.info('the source of a list was read', { listId, status: result.status, entries: result.entries })
  }
  let refresher: ListRefresher | undefined

  return {
    listMemberships: served.memberships,
    screeners,
    collector: createFactCollector({
      fetchers,
      screeners,
      reads,
      clock,
      onError: (error) => log.warn('a fact could not be determined', { error }),
    }),
    /** Returns null if the geography file is missing or lacks the address. */
    countryOf: (address: string): string | null =>
      address === '' ? null : (geography?.lookup(address)?.country ?? null),
    /**
     * Loads lists into the pool, and the geography file. Call after the change feed has started and before the pool
     * starts. Rejects if the store can't be read.
     */
    load: async (): Promise<void> => {
      await geography?.refresh()
      await served.load()
    },
    start: () => geography?.start(),
    leaderTask: {
      name: 'refresh of lists',
      start: (lead: Lead) => {
        refresher = createListRefresher({
          contents: {
            lists: store.lists,
            bases: {
              ...store.listBases,
              begin: whileLeading(lead, store.listBases.begin),
              append: whileLeading(lead, store.listBases.append),
              activate: whileLeading(lead, store.listBases.activate),
            },
          },
          sources: {
            ...store.listSources,
            takeDue: async (leaseSeconds) => (lead.leads() ? store.listSources.takeDue(leaseSeconds) : null),
          },
          clock,
          onResult: report,
          onError: (error) => log.warn('the sources of lists could not be read from the store', { error }),
        })
        refresher.start()
      },
      // Aborts a refresh in flight; its source stays due for the next leader.
      stop: async () => {
        await refresher?.stop()
        refresher = undefined
      },
    },
    followChange: ({ topic, subjectId, organizationId }: Change) => {
      if (topic === 'list') served.changed(subjectId, organizationId)
    },
    resync: served.changedAll,
    behindSinceMs: served.behindSinceMs,
    metrics: (): FactMetrics => {
      const lists = served.all()
      const file = geography?.file() ?? null
      return {
        lists: sumLists(lists),
        listsBehind: lists.filter(({ current }) => !current).length,
        listLoads: loads,
        geographyAgeSeconds: file === null ? null : Math.max(0, clock.unixSeconds() - file.builtAtSeconds),
        sources: [
          ...[...screeners].map(([name, screener]) => ({ kind: 'screener', name, ...screener.counts() })),
          ...[...reads.counts()].map(([name, counts]) => ({ kind: 'chain', name, ...counts })),
          ...[...fetchers].flatMap(([kind, fetcher]) =>
            [...(fetcher.counts?.() ?? [])].map(([name, counts]) => ({ kind, name, ...counts })),
          ),
        ],
      }
    },
    close: async (): Promise<void> => {
      geography?.stop()
      served.stop()
    },
  }
}
