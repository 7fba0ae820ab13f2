import type { ModuleParts } from '../../../dashboard/page/module-pages.ts'
import { LogHeadCard } from './log-head.tsx'
import { SaveProof } from './save-proof.tsx'

export const PARTS: ModuleParts = { decisionLog: LogHeadCard, decision: SaveProof }
