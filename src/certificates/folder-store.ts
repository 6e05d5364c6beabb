import type { KeyObject } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, makeDurably, putOnDisk, writeDurably } from '#src/platform/runtime/index.ts'
import {
  keyKindProblem,
  keyMatchMessage,
  orderChain,
  readCertificates,
  readKey,
  recordOf,
} from './check.ts'
import { type CertificateName, type CertificateRecord, nameText, parseNameText } from './domain.ts'
import { pemBlocks } from './pem.ts'
import type { CertificateStore } from './store.ts'

// <folder>/<ispb>.<type>.<version>/tls.crt   certificate and chain, PEM
// <folder>/<ispb>.<type>.<version>/tls.key   private key, PEM, may be missing
//
// <folder>/<ispb>.<type>.<version>/removed   fingerprint of the certificate that was there: the name is nobody else's
//
// The names inside are those of a mounted Kubernetes secret of type kubernetes.io/tls.

const certificateFile = 'tls.crt'
const keyFile = 'tls.key'
const removedFile = 'removed'

const readOptional = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** @throws Error for a file without a key that can be used: one under a password cannot, because nobody gives it */
const keyIn = (pem: string): KeyObject => {
  const key = readKey(pemBlocks(pem))
  if (key === undefined) throw new Error(`${keyFile} holds no private key`)
  return key
}

type Pair = { readonly record: CertificateRecord; readonly key: KeyObject | undefined }

/** @throws Error for a pair that cannot be used: an import refuses it, and a folder is filled without one */
const readPair = async (folder: string, name: CertificateName): Promise<Pair | undefined> => {
  const directory = join(folder, nameText(name))
  const pem = await readOptional(join(directory, certificateFile))
  if (pem === undefined) return undefined
  const keyPem = await readOptional(join(directory, keyFile))
  const key = keyPem === undefined ? undefined : keyIn(keyPem)
  const { leaf, chain } = orderChain(readCertificates(pemBlocks(pem)), key)
  if (leaf === undefined) throw new Error(`${certificateFile} holds no certificate`)
  if (key !== undefined && !leaf.checkPrivateKey(key)) throw new Error(keyMatchMessage)
  const unfit = keyKindProblem(name.type, leaf)
  if (unfit !== undefined) throw new Error(unfit)
  return { record: recordOf(name, leaf, chain, key !== undefined), key }
}

/**
 * Certificates in a folder.
 *
 * @param writable - only the command line writes; the gateway reads
 * @param onProblem - called once for each certificate that cannot be used and why; the others are served
 */
export const createFolderStore = (
  folder: string,
  writable: boolean,
  onProblem: (name: string, error: Error) => void = () => {},
): CertificateStore => {
  const namesIn = async (): Promise<readonly CertificateName[]> => {
    const entries = await readdir(folder).catch((error: unknown) => {
      // The command line creates the folder with its first certificate.
      if (writable && hasCode(error, 'ENOENT')) return []
      throw error
    })
    return entries.flatMap((entry) => parseNameText(entry) ?? [])
  }
  /** By name: the problem that we last told of. The folder is read every few seconds. */
  let told: ReadonlyMap<string, string> = new Map()
  const tell = (problems: readonly (readonly [string, Error])[]): void => {
    for (const [name, error] of problems) {
      if (told.get(name) !== error.message) onProblem(name, error)
    }
    told = new Map(problems.map(([name, { message }]) => [name, message]))
  }
  return {
    kind: 'folder',
    writable,
    lastVersion: async ({ ispb, type }) => {
      const names = (await namesIn()).filter((name) => name.ispb === ispb && name.type === type)
      return Math.max(0, ...names.map(({ version }) => version))
    },
    list: async () => {
      const problems: [string, Error][] = []
      const pairs = await Promise.all(
        (await namesIn()).map((name) =>
          readPair(folder, name).catch((error: unknown) => {
            problems.push([nameText(name), error as Error])
            return undefined
          }),
        ),
      )
      tell(problems)
      return pairs
        .flatMap((pair) => (pair === undefined ? [] : [pair.record]))
        .sort((a, b) => nameText(a).localeCompare(nameText(b), 'en', { numeric: true }))
    },
    // Compares the key's certificate: the files may have changed since the list was read.
    readKey: async ({ fingerprint, ...name }) => {
      const pair = await readPair(folder, name)
      const key = pair?.record.fingerprint === fingerprint ? pair.key : undefined
      return key && new Uint8Array(key.export({ format: 'der', type: 'pkcs8' }))
    },
    add: async ({ record, key }) => {
      const directory = join(folder, nameText(record))
      await makeDurably(folder)
      try {
        await mkdir(directory, { mode: 0o700 })
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error
        const isThere = (await readOptional(join(directory, certificateFile))) !== undefined
        const removed = await readOptional(join(directory, removedFile))
        if (isThere || removed !== record.fingerprint) return false
      }
      const certificates = [record.certificate, ...record.chain].map((pem) => pem.trim()).join('\n')
      await writeDurably(join(directory, certificateFile), `${certificates}\n`)
      if (key !== undefined) await writeDurably(join(directory, keyFile), keyPem(key), 0o600)
      await putOnDisk(folder)
      return true
    },
    remove: async (name) => {
      const directory = join(folder, nameText(name))
      const isThere = (await readOptional(join(directory, certificateFile))) !== undefined
      if (!isThere) return false
      // If it cannot be read, nobody may have its name again.
      const pair = await readPair(folder, name).catch(() => undefined)
      await writeDurably(join(directory, removedFile), pair?.record.fingerprint ?? '')
      for (const file of [keyFile, certificateFile])
        await rm(join(directory, file), { force: true })
      await putOnDisk(directory)
      return true
    },
  }
}

/** PKCS#8, DER, to PEM. */
export const keyPem = (pkcs8: Uint8Array): string => {
  const lines = pkcs8.toBase64().match(/.{1,64}/g) ?? []
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`
}
