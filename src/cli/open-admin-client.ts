// Opens the admin API client of commands on an open store.

import { createAdminClient, type Opened } from '../command-line/admin-client.ts'
import type { Override } from '../command-line/second-person.ts'
import type { EvidenceParts } from '../compose/evidence-service.ts'
import type { Config } from '../config/config.ts'
import type { OrganizationKeys } from '../identity/evidence/organization-keys.ts'
import { createSessionKnowledge } from '../identity/session-knowledge.ts'
import { findServiceAmong, type ProvidedService } from '../lib/service-key.ts'
import { onceMade } from '../lib/single-flight.ts'
import type { Clock } from '../lib/time.ts'
import type { Module } from '../module-interface/module.ts'
import { listenUrl } from '../server/listen-address.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import { locatePassphrase } from '../setup/passphrase.ts'
import type { Store } from '../store/store.ts'

interface AdminClientInput {
  readonly config: Config
  readonly folder: DataFolder
  readonly store: Store
  readonly provided: readonly ProvidedService[]
  readonly modules: readonly Module[]
  readonly clock: Clock
  readonly user: string
  /** Reason for overriding the second-person rule; null if the rule isn't overridden. */
  readonly override: Override | null
  readonly openKeys: () => Promise<OrganizationKeys>
  readonly openEvidence: () => Promise<EvidenceParts>
}

export const openAdminClient = ({
  config,
  folder,
  store,
  provided,
  modules,
  clock,
  user,
  override,
  openKeys,
  openEvidence,
}: AdminClientInput): Opened => {
  let parts: EvidenceParts | null = null
  const evidenceParts = onceMade(async () => {
    parts = await openEvidence()
    return parts
  })
  const load = onceMade(async () => {
    const { createDashboardOrigins } = await import('../admin/accounts/origin.ts')
    const { createCommandClient, ServiceNeededError } = await import('../admin/command-client.ts')
    const { commandRoutes } = await import('../admin/route-table.ts')
    const { createOperationServices } = await import('../compose/operation-services.ts')
    const operations = await (await import('../module-interface/operations.ts')).loadOperations(modules)
    const evidence = async () => (await evidenceParts()).evidence
    return createCommandClient({
      routes: commandRoutes(operations),
      actor: { kind: 'command-line', user, author: user, override },
      services: {
        ...createOperationServices({
          config,
          folder,
          store,
          findService: findServiceAmong([...provided, ...operations.services({ store, clock, evidence })]),
          clock,
          passphrase: async () => locatePassphrase(config, folder, false),
          organizationKeys: onceMade(openKeys),
          collectFacts: () => {
            throw new ServiceNeededError()
          },
        }),
        origins: createDashboardOrigins(
          config.dashboardUrl === ''
            ? listenUrl(config.dashboardListen, config.tlsCertificate.dashboard !== '')
            : config.dashboardUrl,
        ),
        // A running service notices a commit within a second.
        notifyChanges: async () => undefined,
        identity: {
          evidence: {
            listEvidence: async (session) => (await evidenceParts()).evidence.listEvidence(session),
            missing: async (session) => (await evidenceParts()).evidence.missing(session),
            readFields: async (session, actor) => (await evidenceParts()).evidence.readFields(session, actor),
            findByFields: async (sessions, matches, actor) =>
              (await evidenceParts()).evidence.findByFields(sessions, matches, actor),
            openDocument: async (session, documentId, actor) =>
              (await evidenceParts()).evidence.openDocument(session, documentId, actor),
            eraseSession: async (...erasure) => (await evidenceParts()).evidence.eraseSession(...erasure),
          },
          sessions: {
            make: () => Promise.reject(new ServiceNeededError()),
            link: () => Promise.reject(new ServiceNeededError()),
          },
          readings: { read: async (session, actor) => (await evidenceParts()).readings.read(session, actor) },
          decisionFacts: { read: async (session, actor) => (await evidenceParts()).decisionFacts.read(session, actor) },
          knowledge: createSessionKnowledge({
            store,
            evidence: {
              screenedFields: async (session) => (await evidenceParts()).evidence.screenedFields(session),
            },
          }),
        },
      },
    })
  })
  return {
    store,
    admin: createAdminClient(load),
    close: async () => {
      await parts?.close()
      await store.close()
    },
  }
}
