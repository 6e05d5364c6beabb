import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** A second implementation of the third protocol version, on the JDK's own cryptography. */
public class RsfnPeer {
  public static void main(String[] args) throws Exception {
    KeyFactory rsa = KeyFactory.getInstance("RSA");
    PrivateKey own = rsa.generatePrivate(new PKCS8EncodedKeySpec(read(args[1])));
    PublicKey peer = rsa.generatePublic(new X509EncodedKeySpec(read(args[2])));
    if (args[0].equals("open")) System.out.print(open(read(args[3]), own, peer));
    else Files.write(Path.of(args[4]), seal(args[3], own, peer));
  }

  static byte[] read(String path) throws Exception {
    return Files.readAllBytes(Path.of(path));
  }

  static String open(byte[] message, PrivateKey own, PublicKey peer) throws Exception {
    Cipher unwrap = Cipher.getInstance("RSA/ECB/PKCS1Padding");
    unwrap.init(Cipher.DECRYPT_MODE, own);
    byte[] secret = unwrap.doFinal(message, 76, 256);
    Cipher aes = Cipher.getInstance("AES/GCM/NoPadding");
    aes.init(Cipher.DECRYPT_MODE, new SecretKeySpec(secret, 0, 32, "AES"),
        new GCMParameterSpec(128, secret, 32, 12));
    byte[] plain = aes.doFinal(message, 588, message.length - 588);
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initVerify(peer);
    signature.update(plain);
    if (!signature.verify(message, 332, 256)) throw new IllegalStateException("signature");
    return new String(plain, StandardCharsets.UTF_16BE);
  }

  static byte[] seal(String text, PrivateKey own, PublicKey peer) throws Exception {
    byte[] plain = text.getBytes(StandardCharsets.UTF_16BE);
    byte[] secret = new byte[44];
    new SecureRandom().nextBytes(secret);
    Cipher wrap = Cipher.getInstance("RSA/ECB/PKCS1Padding");
    wrap.init(Cipher.ENCRYPT_MODE, peer);
    Cipher aes = Cipher.getInstance("AES/GCM/NoPadding");
    aes.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(secret, 0, 32, "AES"),
        new GCMParameterSpec(128, secret, 32, 12));
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initSign(own);
    signature.update(plain);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(new byte[] {0x02, 0x4C, 3, 0, 0, 0, 2, 2, 2, 3, 5});
    out.write("0000000000000000000000000000AB01".getBytes(StandardCharsets.US_ASCII));
    out.write(4);
    out.write("00000000000000000000000000002F4C".getBytes(StandardCharsets.US_ASCII));
    out.write(wrap.doFinal(secret));
    out.write(signature.sign());
    out.write(aes.doFinal(plain));
    Arrays.fill(secret, (byte) 0);
    return out.toByteArray();
  }
}
