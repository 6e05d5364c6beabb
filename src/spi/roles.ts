import type { SettingProblem } from '#src/platform/config/index.ts'
import { createTlsMaterial, TlsMaterialError } from '#src/platform/tls/index.ts'
import type { SpiRole, SpiSettings } from './config.ts'
import { rsfnProblems } from './rsfn/index.ts'

/** What each stage cannot run without. */
const needs: Readonly<Record<SpiRole, readonly ('ISPB' | 'SPI_PRIMARY_URL' | 'DATABASE_DSN')[]>> = {
  INBOUND_PULL: ['ISPB', 'SPI_PRIMARY_URL', 'DATABASE_DSN'],
  WORKER: ['DATABASE_DSN'],
  OUTBOUND_SEND: ['ISPB', 'SPI_PRIMARY_URL', 'DATABASE_DSN'],
}

/** What no single setting can say: a stage that lacks something, keys that do not fit. */
export const spiProblems = (
  settings: SpiSettings,
  dsn: string | undefined,
): readonly SettingProblem[] => {
  const isSet = {
    ISPB: settings.ispb !== undefined,
    SPI_PRIMARY_URL: settings.primaryUrl !== undefined || settings.secondaryUrl !== undefined,
    DATABASE_DSN: dsn !== undefined,
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
  isSet: Readonly<Record<'ISPB' | 'SPI_PRIMARY_URL' | 'DATABASE_DSN', boolean>>,
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
    createTlsMaterial({ certificate, key, ca })
    return []
  } catch (error) {
    if (!(error instanceof TlsMaterialError)) throw error
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
