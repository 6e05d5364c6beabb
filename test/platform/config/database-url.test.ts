import { describe, expect, test } from 'bun:test'
import { parseDatabaseUrl } from '#src/platform/config/index.ts'

describe('a connection string', () => {
  test.each([
    ['postgres://u:p@h/d', ['postgres://u:p@h/d'], false],
    ['postgres://u:p%40w%2F%23@h/d', ['postgres://u:p%40w%2F%23@h/d'], false],
    ['postgresql:///d', ['postgresql:///d'], false],
    ['postgres://h1,h2:6432/d', ['postgres://h1/d', 'postgres://h2:6432/d'], true],
    [
      'postgres://[::1]:5,[::2]/d?a=b',
      ['postgres://[::1]:5/d?a=b', 'postgres://[::2]/d?a=b'],
      true,
    ],
    ['postgres://a,b/d?target_session_attrs=any', ['postgres://a/d', 'postgres://b/d'], false],
    ['postgres://a/d?x=1&target_session_attrs=read-write&y=2', ['postgres://a/d?x=1&y=2'], true],
  ])('%s', (value, servers, isPrimary) => {
    expect(parseDatabaseUrl(value)).toEqual({ servers: servers as [string], isPrimary })
  })

  test('names the files of its TLS, which the server is not told of', () => {
    const asked = 'postgres://h1,h2/d?sslrootcert=/a%20b/ca.pem&sslmode=verify-full&x=1'
    expect(parseDatabaseUrl(`${asked}&sslcert=c&sslkey=k`)).toEqual({
      servers: [
        'postgres://h1/d?sslmode=verify-full&x=1',
        'postgres://h2/d?sslmode=verify-full&x=1',
      ],
      isPrimary: true,
      tlsFiles: { ca: '/a b/ca.pem', cert: 'c', key: 'k' },
    })
  })

  test.each([
    ['postgres://h/d?sslmode=verify', 'has an sslmode that is none'],
    ['postgres://h/d?sslmode=allow', 'has an sslmode that is none'],
    ['postgres://h/d?sslrootcert=ca.pem', 'need sslmode=verify-full'],
    ['postgres://h/d?sslmode=require&sslcert=c', 'need sslmode=verify-full'],
    ['mysql://h/d', 'is not a URL of PostgreSQL'],
    ['postgres://u:p/w@h/d', 'is not percent-encoded'],
    ['postgres://u:p?w@h/d', 'is not percent-encoded'],
    ['postgres://u:p@w#x@h/d', 'is not percent-encoded'],
    ['postgres://u:p@h/d#x', 'is not percent-encoded'],
    ['postgres://h1,,h2/d', 'has a host that is none'],
    ['postgres://h:0/d', 'names a port outside 1 to 65535'],
    ['postgres://h1,h2:70000/d', 'names a port outside 1 to 65535'],
    ['postgres://h1,h2/d?target_session_attrs=standby', 'has a target_session_attrs that is none'],
    [`postgres://${Array(17).fill('h').join(',')}/d`, 'names more than 16 hosts'],
  ])('%s is refused', (value, problem) => {
    expect(() => parseDatabaseUrl(value)).toThrow(problem)
  })

  test('of 16 hosts is taken', () => {
    const value = `postgres://${Array(16).fill('h').join(',')}/d`
    expect(parseDatabaseUrl(value).servers).toHaveLength(16)
  })
})
