import { LRUCache } from 'lru-cache'
import type { ChainTable } from '../domain/chain.ts'
import { missingParts, requiredParts, requirementsOf, type SessionPart } from '../domain/requirements.ts'
import { isSessionFinal, type Session, type SessionState } from '../domain/session.ts'
import { WALLETS_PER_SESSION_MAX, walletAddressText } from '../domain/wallet.ts'
import { DOCUMENT_BYTES_MAX, DOCUMENT_RULES } from '../identity/evidence-types.ts'
import { AGREEMENT_VERSION, type ChainView, type SessionView } from './contract.ts'
import type { PortalParts } from './types.ts'

// Display names of chains, unless the display name is the chain's name with a capital first letter.
const TITLES: Readonly<Record<string, string>> = {
  bsc: 'BNB Smart Chain',
  worldchain: 'World Chain',
  megaeth: 'MegaETH',
  'megaeth-testnet': 'MegaETH Testnet',
  arbitrum: 'Arbitrum One',
  optimism: 'OP Mainnet',
}

const chainTitle = (name: string): string => {
  if (name.startsWith('eip155:')) return `Chain ${name.slice('eip155:'.length)}`
  const known = TITLES[name]
  if (known !== undefined) return known
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** Returns the EVM chains, in the order of the configuration. */
export const chainViews = (table: ChainTable): readonly ChainView[] =>
  table.chains.flatMap((chain) =>
    chain.family === 'evm' ? [{ name: chain.name, title: chainTitle(chain.name), chainId: chain.chainId }] : [],
  )

type ViewParts = Pick<
  PortalParts,
  'sessions' | 'organizations' | 'brands' | 'retention' | 'progress' | 'evidence' | 'chains' | 'contractChainIds'
>

/** Time for which the usual wait is cached, because it changes slowly and every step shows it. */
const WAIT_KEPT_MS = 600_000

/** The host is in ASCII, so that lookalike letters are visible (threats row 16). */
const originOf = (url: string | null): SessionView['origin'] => (url === null ? null : { url, host: new URL(url).host })

export const contractChainTitles = ({ chains, contractChainIds }: ViewParts): readonly string[] =>
  contractChainIds.map((chainId) => chainTitle(chains.byId(chainId)?.name ?? `eip155:${chainId}`))

/** Country and age exist only for individuals. */
export const asksDetails = (
  { checkType }: Pick<Session, 'checkType'>,
  brand: { readonly asksDetails: boolean },
): boolean => checkType === 'kyc' && brand.asksDetails

export const createSessionViews = (parts: ViewParts) => {
  const { sessions, organizations, brands, retention, progress, evidence, chains } = parts
  const chainList = chainViews(chains)
  const contractChains = contractChainTitles(parts)

  const waits = new LRUCache<string, { readonly seconds: number | null }>({ max: 1_000, ttl: WAIT_KEPT_MS })
  const usualWait = async ({ session: { organizationId, environment } }: SessionState): Promise<number | null> => {
    const key = `${organizationId} ${environment}`
    const known = waits.get(key) ?? { seconds: await sessions.findUsualWait(organizationId, environment) }
    waits.set(key, known, { noUpdateTTL: true })
    return known.seconds
  }

  /** Personal data is read only while the session can change; a final session shows only its outcome. */
  const findPersonal = async ({ session, wallets }: SessionState) => {
    if (isSessionFinal(session.status)) return { wallets: [], fields: [], documents: [], absent: [] }
    const { fields, documents } = await evidence.listEvidence(session)
    const given = new Set<string>([...fields, ...documents.map(({ kind }) => kind)])
    if (wallets.length > 0) given.add('wallets')
    return { wallets, fields, documents, absent: missingParts(session, given) }
  }

  return async (state: SessionState): Promise<SessionView> => {
    const { session } = state
    const { organizationId, id: sessionId } = session
    const [organization, brand, kept, usualWaitSeconds, agreement, corrections, personal] = await Promise.all([
      organizations.find(organizationId),
      brands.find(organizationId),
      retention.find(organizationId),
      usualWait(state),
      progress.findAgreement(organizationId, sessionId),
      progress.findCorrections(organizationId, sessionId),
      findPersonal(state),
    ])
    const { wallets, fields, documents, absent } = personal
    const final = isSessionFinal(session.status)
    const known = new Set<string>(requiredParts(session))
    const asked = (corrections?.parts ?? []).filter((part): part is SessionPart => known.has(part))
    const open = asked.filter((part) => corrections?.done.includes(part) !== true)
    const missing = new Set<SessionPart>(final ? [] : [...absent, ...open])
    return {
      sessionId,
      sequence: session.sequence,
      checkType: session.checkType,
      status: session.status,
      test: session.environment === 'test',
      organization: {
        name: organization?.name ?? '',
        color: brand.color,
        logo: brand.logoVersion === null ? null : `api/sessions/${sessionId}/logo?v=${brand.logoVersion}`,
        privacyUrl: brand.privacyUrl,
        supportEmail: brand.supportEmail,
        words: { en: brand.wordsEn, de: brand.wordsDe },
        keptDays: { completed: kept.completedDays, rejected: kept.rejectedDays, abandoned: kept.abandonedDays },
        usualWaitSeconds,
      },
      agreement:
        agreement === null
          ? null
          : { version: agreement.version, shares: agreement.shares, usesDetails: agreement.usesDetails },
      agreementVersion: AGREEMENT_VERSION,
      asksDetails: asksDetails(session, brand),
      lockedWallet: session.lockedAddress === null || final ? null : walletAddressText(session.lockedAddress),
      wallets: wallets.map(({ id, addressText, chain }) => ({
        id,
        address: addressText,
        chain,
        chainTitle: chainTitle(chain),
      })),
      walletsMax: WALLETS_PER_SESSION_MAX,
      chains: chainList,
      contractChains,
      requirements: requirementsOf(session.checkType, session.level),
      fields,
      documents,
      documentRules: DOCUMENT_RULES,
      documentBytesMax: DOCUMENT_BYTES_MAX,
      missing: [...missing],
      corrections: session.status === 'retry' ? asked : [],
      comment: session.publicComment,
      origin: originOf(session.originUrl),
    }
  }
}
