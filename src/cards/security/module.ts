import type { CardSettings } from '../config.ts'
import { createSoftwareModule } from './software.ts'
import type { SecurityModule } from './types.ts'

/** The security module of the settings; undefined without one. */
export const createSecurityModule = ({
  securityModule,
}: Pick<CardSettings, 'securityModule'>): SecurityModule | undefined =>
  securityModule === undefined ? undefined : createSoftwareModule()
