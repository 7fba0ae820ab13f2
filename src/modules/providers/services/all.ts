import { PERSONA } from './persona.ts'
import type { VerificationService } from './service.ts'
import { SUMSUB } from './sumsub.ts'
import { VERIFF } from './veriff.ts'

const SERVICES: readonly VerificationService[] = [SUMSUB, PERSONA, VERIFF]

export const serviceNamed = (name: string | null): VerificationService | undefined =>
  SERVICES.find((service) => service.name === name)
