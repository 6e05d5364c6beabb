import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.ServerSocket;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jpos.iso.IFB_BINARY;
import org.jpos.iso.ISOMsg;
import org.jpos.iso.ISOPackager;
import org.jpos.iso.ISORequestListener;
import org.jpos.iso.ISOServer;
import org.jpos.iso.ISOSource;
import org.jpos.iso.channel.NACChannel;
import org.jpos.iso.packager.ISO87APackagerBBitmap;
import org.jpos.util.ThreadPool;

/**
 * A card network made of jPOS and the JDK's ciphers, whose messages have a code of ANSI X9.19 in DE 64 or 128 and which
 * changes the key of codes: `JposKeysPeer macKey zoneKey code`, where 101 brings a key that is in use with the answer,
 * and 161 one that is in use once it is confirmed by 162.
 *
 * <p>It prints "keys port"; "key" on its input sends a new key, "bad" one whose check value is another's. It prints
 * "answered 101 00", "confirmed", "coded 2" for a message under the third key, and "wrong code".
 */
public class JposKeysPeer implements ISORequestListener {
  private static final HexFormat HEX = HexFormat.of().withUpperCase();
  private static final int CODE_BYTES = 8;

  private static final ISOPackager PACKAGER = packager();
  private final List<byte[]> keys = new CopyOnWriteArrayList<>();
  private final byte[] zone;
  private final String changeCode;
  private volatile byte[] offered;
  private volatile ISOSource signedOn;
  private int number = 500_000;

  JposKeysPeer(String macKey, String zoneKey, String changeCode) {
    keys.add(HEX.parseHex(macKey));
    zone = HEX.parseHex(zoneKey);
    this.changeCode = changeCode;
  }

  /** ISO87A, whose codes are bytes as they are. */
  private static ISOPackager packager() {
    ISO87APackagerBBitmap packager = new ISO87APackagerBBitmap();
    for (int field : new int[] {64, 128}) {
      packager.setFieldPackager(field, new IFB_BINARY(CODE_BYTES, "MAC"));
    }
    return packager;
  }

  public static void main(String[] args) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    JposKeysPeer peer = new JposKeysPeer(args[0], args[1], args[2]);
    NACChannel channel = new NACChannel(null, 0, PACKAGER, null);
    ISOServer server = new ISOServer(port, channel, new ThreadPool(1, 20));
    server.addISORequestListener(peer);
    new Thread(server).start();
    System.out.println("keys " + port);
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      peer.offer(line.equals("key"));
    }
    System.exit(0);
  }

  private synchronized void offer(boolean isRight) throws Exception {
    byte[] key = new byte[16];
    new SecureRandom().nextBytes(key);
    for (int at = 0; at < key.length; at++) {
      // Odd parity in the lowest bit.
      if (Integer.bitCount(key[at] & 0xff) % 2 == 0) key[at] ^= 1;
    }
    offered = key;
    byte[] wrapped = tripleDes(Cipher.ENCRYPT_MODE, zone, key);
    byte[] check = tripleDes(Cipher.ENCRYPT_MODE, key, new byte[8]);
    if (!isRight) check[0] ^= 1;
    ISOMsg message = new ISOMsg("0800");
    message.set(7, "1120120000");
    message.set(11, String.format("%06d", ++number));
    message.set(48, HEX.formatHex(wrapped) + HEX.formatHex(check, 0, 3));
    message.set(70, changeCode);
    signedOn.send(message);
  }

  @Override
  public boolean process(ISOSource source, ISOMsg message) {
    try {
      if (message.getMTI().equals("0810")) answered(message);
      else if (message.getMTI().equals("0800")) manage(source, message);
      else pay(source, message);
    } catch (Exception error) {
      System.out.println("failed " + error);
    }
    return true;
  }

  private void answered(ISOMsg message) throws Exception {
    System.out.println("answered " + message.getString(70) + " " + message.getString(39));
    if (!message.getString(39).equals("00")) offered = null;
    else if (changeCode.equals("101")) adopt();
  }

  private void manage(ISOSource source, ISOMsg message) throws Exception {
    String code = message.getString(70);
    if (code.equals("001")) signedOn = source;
    boolean isUnasked = code.equals("162") && offered == null;
    if (code.equals("162") && offered != null) {
      adopt();
      System.out.println("confirmed");
    }
    ISOMsg answer = (ISOMsg) message.clone();
    answer.setResponseMTI();
    answer.set(39, isUnasked ? "12" : "00");
    source.send(answer);
  }

  private void adopt() {
    keys.add(offered);
    offered = null;
  }

  /** Approves what has a right code, under the key in use, the one before it, or the one that is on its way. */
  private void pay(ISOSource source, ISOMsg message) throws Exception {
    int last = keys.size() - 1;
    byte[] next = offered;
    int under = -1;
    if (next != null && isRight(message, next)) under = last + 1;
    for (int at = last; at >= Math.max(0, last - 1) && under < 0; at--) {
      if (isRight(message, keys.get(at))) under = at;
    }
    if (under < 0) {
      System.out.println("wrong code");
      return;
    }
    System.out.println("coded " + under);
    ISOMsg answer = (ISOMsg) message.clone();
    answer.unset(64);
    answer.unset(128);
    answer.setResponseMTI();
    answer.set(38, "A1B2C3");
    answer.set(39, "00");
    answer.set(codeField(answer), codeOf(answer, keys.get(keys.size() - 1)));
    source.send(answer);
  }

  private static int codeField(ISOMsg message) {
    return message.getMaxField() > 64 ? 128 : 64;
  }

  private boolean isRight(ISOMsg message, byte[] key) throws Exception {
    int field = message.hasField(128) ? 128 : 64;
    if (!message.hasField(field)) return false;
    ISOMsg copy = (ISOMsg) message.clone();
    copy.unset(field);
    return codeField(copy) == field && Arrays.equals(codeOf(copy, key), message.getBytes(field));
  }

  /** The code of a message without one: over all that is before it. */
  private byte[] codeOf(ISOMsg message, byte[] key) throws Exception {
    ISOMsg copy = (ISOMsg) message.clone();
    copy.set(codeField(message), new byte[CODE_BYTES]);
    copy.setPackager(PACKAGER);
    byte[] packed = copy.pack();
    byte[] covered = Arrays.copyOf(packed, packed.length - CODE_BYTES);
    byte[] padded = Arrays.copyOf(covered, (covered.length + 7) / 8 * 8);
    byte[] left = Arrays.copyOf(key, 8);
    byte[] right = Arrays.copyOfRange(key, 8, 16);
    Cipher chain = Cipher.getInstance("DES/CBC/NoPadding");
    chain.init(
        Cipher.ENCRYPT_MODE, new SecretKeySpec(left, "DES"), new IvParameterSpec(new byte[8]));
    byte[] chained = chain.doFinal(padded);
    byte[] block = Arrays.copyOfRange(chained, chained.length - 8, chained.length);
    return des(Cipher.ENCRYPT_MODE, left, des(Cipher.DECRYPT_MODE, right, block));
  }

  private static byte[] des(int mode, byte[] key, byte[] data) throws Exception {
    Cipher cipher = Cipher.getInstance("DES/ECB/NoPadding");
    cipher.init(mode, new SecretKeySpec(key, "DES"));
    return cipher.doFinal(data);
  }

  private static byte[] tripleDes(int mode, byte[] key, byte[] data) throws Exception {
    byte[] whole = Arrays.copyOf(key, 24);
    System.arraycopy(key, 0, whole, 16, 8);
    Cipher cipher = Cipher.getInstance("DESede/ECB/NoPadding");
    cipher.init(mode, new SecretKeySpec(whole, "DESede"));
    return cipher.doFinal(data);
  }
}
