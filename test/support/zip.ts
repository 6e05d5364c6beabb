import { crc32, deflateRawSync } from 'node:zlib'

/** The smallest archive: local headers, data, directory. */
export const zipOf = (files: Readonly<Record<string, string>>, stored = false): Uint8Array => {
  const locals: Buffer[] = []
  const directoryEntries: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const data = stored ? Buffer.from(text) : deflateRawSync(text)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(stored ? 0 : 8, 4)
    common.writeUInt32LE(crc32(text), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(Buffer.byteLength(text), 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), data])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    const made = Buffer.from([20, 0])
    directoryEntries.push(
      Buffer.concat([Buffer.from('PK\x01\x02'), made, common, tail, Buffer.from(name)]),
    )
    locals.push(local)
    offset += local.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(locals.length, 8)
  end.writeUInt16LE(locals.length, 10)
  end.writeUInt32LE(Buffer.concat(directoryEntries).length, 12)
  end.writeUInt32LE(offset, 16)
  return new Uint8Array(Buffer.concat([...locals, ...directoryEntries, end]))
}
