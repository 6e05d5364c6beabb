import type { SettingProblem } from '#src/platform/config/index.ts'
import { createFileMaterial, KeyMaterialError } from '#src/platform/security/index.ts'
import type { SpiRole, SpiSettings } from './config.ts'
import { rsfnProblems } from './link/rsfn/index.ts'

type Need = 'ISPB' | 'SPI_PRIMARY_URL' | 'DATABASE_DSN' | 'BROKER_ADDRESSES or DATABASE_DSN'

/** What each stage needs to run. Pulling stores nothing itself: any broker will do. */
const needs: Readonly<Record<SpiRole, readonly Need[]>> = {
  INBOUND_PULL: ['ISPB', 'SPI_PRIMARY_URL', 'BROKER_ADDRESSES or DATABASE_DSN'],
  WORKER: ['DATABASE_DSN'],
  OUTBOUND_SEND: ['ISPB', 'SPI_PRIMARY_URL', 'DATABASE_DSN'],
}

/** The settings of other features that the stages depend on. */
export type SpiSurroundings = {
  readonly dsn: string | undefined
  readonly brokerAddresses: readonly string[] | undefined
}

/** Problems that involve several settings: a stage that lacks something, keys that do not fit. */
export const spiProblems = (
  settings: SpiSettings,
  { dsn, brokerAddresses }: SpiSurroundings,
): readonly SettingProblem[] => {
  const isSet = {
    ISPB: settings.ispb !== undefined,
    SPI_PRIMARY_URL: settings.primaryUrl !== undefined || settings.secondaryUrl !== undefined,
    DATABASE_DSN: dsn !== undefined,
    'BROKER_ADDRESSES or DATABASE_DSN': dsn !== undefined || brokerAddresses !== undefined,
  }
  const problems = (settings.roles ?? []).flatMap((role) =>
    needs[role]
      .filter((name) => !isSet[name])
      .map((name) => ({
        name: 'SPI_ROLES',
        value: role,
        problem: `needs ${name}, which is not set`,
        expected: `${role} together with ${name}`,
        fix: `set ${name}, or take ${role} out of SPI_ROLES`,
      })),
  )
  return [
    ...problems,
    ...fastPathProblems(settings, isSet),
    ...certificateProblems(settings),
    ...rsfnProblems(settings),
  ]
}

const fastPathProblems = (
  { syncEnabled }: SpiSettings,
  isSet: Readonly<Record<Need, boolean>>,
): readonly SettingProblem[] =>
  needs.OUTBOUND_SEND.filter((name) => syncEnabled && !isSet[name]).map((name) => ({
    name: 'SPI_SYNC_ENABLED',
    value: 'true',
    problem: `needs ${name}, which is not set`,
    expected: `SPI_SYNC_ENABLED together with ${name}`,
    fix: `set ${name}, or leave SPI_SYNC_ENABLED out`,
  }))

const certificateProblems = ({ certificate, key, ca }: SpiSettings): readonly SettingProblem[] => {
  try {
    createFileMaterial({ certificate, key, ca })
    return []
  } catch (error) {
    if (!(error instanceof KeyMaterialError)) throw error
    return [
      {
        name: 'CERT_PATH',
        value: '***',
        problem: error.message,
        expected: 'a certificate and its private key',
        fix: 'set CERT_PATH and KEY_PATH to a certificate and its key, or neither',
      },
    ]
  }
}
