import type { Pem, SettingProblem } from '../config/index.ts'
import { createFileMaterial, type KeyMaterial, keyFileProblems } from './key-material.ts'

/** The TLS files of a listener; with `clientCa`, clients must have a certificate from one of its authorities. */
type ListenerTls = {
  readonly certificate: Pem | undefined
  readonly key: Pem | undefined
  readonly clientCa: Pem | undefined
}

export const hasTls = ({ certificate, key }: ListenerTls): boolean =>
  certificate !== undefined && key !== undefined

/** Undefined: plaintext. Throws a KeyMaterialError when certificate and key do not belong together. */
export const listenerMaterial = (
  tls: ListenerTls,
  onProblem?: (error: Error) => void,
): KeyMaterial | undefined => {
  const { certificate, key, clientCa: ca } = tls
  return hasTls(tls) ? createFileMaterial({ certificate, key, ca }, onProblem) : undefined
}

/**
 * Problems that involve several settings of a listener.
 *
 * @param prefix - of their names: `<prefix>_CERT_PATH`, `<prefix>_KEY_PATH`, `<prefix>_CLIENT_CA_PATH`
 */
export const listenerTlsProblems = (
  prefix: string,
  tls: ListenerTls,
): readonly SettingProblem[] => {
  const { certificate, key, clientCa } = tls
  const certificateName = `${prefix}_CERT_PATH`
  const keyName = `${prefix}_KEY_PATH`
  const problem = (name: string, said: string, expected: string, fix: string): SettingProblem => ({
    name,
    value: '***',
    problem: said,
    expected,
    fix,
  })
  if ((certificate === undefined) !== (key === undefined)) {
    const [lone, other] =
      certificate === undefined ? [keyName, certificateName] : [certificateName, keyName]
    return [problem(lone, `is set, but ${other} is not`, 'both or none', `set ${other} too`)]
  }
  if (clientCa !== undefined && certificate === undefined) {
    const name = `${prefix}_CLIENT_CA_PATH`
    return [problem(name, 'needs TLS', 'TLS', `set ${certificateName} and ${keyName}`)]
  }
  const fix = `set ${certificateName} and ${keyName} to a certificate and its key`
  return keyFileProblems(
    { certificate, key, ca: clientCa },
    { name: certificateName, value: '***' },
    fix,
  )
}
