import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CommandArguments, UsageError } from '../command.ts'
import type { Simulator } from './simulator.ts'

/** The files of a certificate and its key: both, or neither. */
const pairOf = async (args: CommandArguments, certificateOption: string, keyOption: string) => {
  const [certificate, key] = [args.text(certificateOption), args.text(keyOption)]
  if (certificate !== undefined && key !== undefined) {
    return { cert: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') }
  }
  if (certificate === key) return undefined
  throw new UsageError(`say both --${certificateOption} and --${keyOption}`)
}

export const tlsOptions: Simulator['options'] = {
  'tls-cert': { value: 'file', doc: 'PEM; serves TLS, needs --tls-key.' },
  'tls-key': { value: 'file', doc: 'PEM of the private key.' },
  'client-ca': { value: 'file', doc: 'PEM; clients must show a certificate of this authority.' },
}

/** The options of both the central bank and the directory: TLS, their signer, and whose signatures they demand. */
export const materialOf = async (args: CommandArguments) => {
  const tls = await pairOf(args, 'tls-cert', 'tls-key')
  const authority = args.text('client-ca')
  if (tls === undefined && authority !== undefined) {
    throw new UsageError('--client-ca needs --tls-cert and --tls-key')
  }
  const clientCa = authority === undefined ? undefined : await readFile(authority, 'utf8')
  const signing = await pairOf(args, 'sign-cert', 'sign-key')
  const signers = args.text('signers')
  return {
    tls: tls && { ...tls, clientCa },
    signing: signing && { certificate: signing.cert, key: signing.key },
    participantCertificates: signers === undefined ? undefined : await signersIn(signers),
  }
}

const signerFile = /^([0-9A-Z]{8})(?:\..+)?\.pem$/

/** PEM by ISPB. */
const signersIn = async (folder: string): Promise<Record<string, readonly string[]>> => {
  const certificates: Record<string, readonly string[]> = {}
  for (const name of await readdir(folder)) {
    const [, ispb] = signerFile.exec(name) ?? []
    if (ispb === undefined) continue
    const pem = await readFile(join(folder, name), 'utf8')
    certificates[ispb] = [...(certificates[ispb] ?? []), pem]
  }
  if (Object.keys(certificates).length === 0) {
    throw new UsageError(`${folder} holds no <ISPB>.pem: nobody could send anything`)
  }
  return certificates
}
